import { describe, expect, test } from 'vitest'
import type { Check, Question } from '../../../../src/lib/checks/check-definition.ts'
import {
  atLeast,
  controlPlaneLabel,
  heartbeat,
  kvmDevices,
  newGates,
  nodeReady,
  nodeSchedulable,
  roomForSurge,
} from '../../../../src/lib/checks/groups/node-checks.ts'
import type { Node } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import type { FullSnapshot } from '../../../../src/lib/kubevirt/full-snapshot.ts'
import { itemsOf } from '../../../../src/lib/kube/known.ts'
import { ask, known, ofVersion, said, withSpec } from '../evidence.ts'
import { ago, nodes, notReady, wholeCluster } from '../whole-cluster.ts'
import fixture from './nodes.json' with { type: 'json' }

type Changes = Parameters<typeof nodes>[0]
type Asked = { target?: string; method?: NonNullable<Question['method']> }

const on = (check: Check, snapshot: FullSnapshot, asked: Asked = {}) =>
  ask(check, { snapshot, target: 'v1.9.0', ...asked })
const withNodes = (check: Check, changes: Changes, asked?: Asked) =>
  on(check, wholeCluster({ nodes: known(...nodes(changes)) }), asked)

const cordon = (node: Node) => Object.assign(node, { spec: { ...node.spec, unschedulable: true } })
const taint =
  (key: string, effect = 'NoSchedule') =>
  (node: Node) =>
    Object.assign(node, { spec: { ...node.spec, taints: [{ key, effect }] } })
const runs = (kubeletVersion: string, containerRuntimeVersion: string) => (node: Node) =>
  Object.assign(node.status ?? {}, { nodeInfo: { kubeletVersion, containerRuntimeVersion } })

const offers = (kvm: string) => (node: Node) =>
  Object.assign(node.status ?? {}, { allocatable: { pods: '110', 'devices.kubevirt.io/kvm': kvm } })

const windows = (node: Node) => {
  notReady(node)
  Object.assign(node.metadata, { labels: { 'kubernetes.io/os': 'windows' } })
  Object.assign(node, { spec: {} })
}
const silent = (node: Node) => {
  notReady(node)
  taint('node.kubernetes.io/unreachable', 'NoExecute')(node)
}
const beat = (minutes: number) => (node: Node) =>
  Object.assign(node.metadata, { annotations: { 'kubevirt.io/heartbeat': ago(minutes) } })
const master = (node: Node) =>
  Object.assign(node.metadata, { labels: { 'node-role.kubernetes.io/master': 'true' } })
const full = (node: Node) => Object.assign(node.status ?? {}, { allocatable: { pods: '2' } })

describe('node-ready', () => {
  test('one without it, where its DaemonSet wants one, as well', () => {
    const snapshot = wholeCluster({ nodes: known(...nodes({ 'worker-2': notReady })) })
    const pods = known(...itemsOf(snapshot.pods).filter((pod) => pod.spec?.nodeName !== 'worker-2'))
    expect(on(nodeReady, { ...snapshot, pods }).findings[0]?.objects).toEqual(['node/worker-2'])
  })

  test('not one that virt-handler stays away from: another system, or a taint', () => {
    expect(withNodes(nodeReady, { 'cp-1': notReady }).is).toBe('passed')
    expect(withNodes(nodeReady, { 'cp-1': windows }).is).toBe('passed')
  })

  test('the taints that Kubernetes itself gives to such a node do not keep virt-handler away', () => {
    const snapshot = wholeCluster({ nodes: known(...nodes({ 'worker-2': silent })) })
    const pods = known(...itemsOf(snapshot.pods).filter((pod) => pod.spec?.nodeName !== 'worker-2'))
    expect(on(nodeReady, { ...snapshot, pods }).is).toBe('found')
  })
})

describe('node-schedulable', () => {
  test('a cordoned node, and one with a taint that virt-handler does not tolerate', () => {
    const { findings } = withNodes(nodeSchedulable, { 'worker-1': taint('gpu'), 'worker-3': cordon })
    expect(said(findings)).toEqual(['warning node-schedulable', 'warning node-schedulable'])
    expect(findings.map(({ objects }) => objects)).toEqual([['node/worker-1'], ['node/worker-3']])
    expect(findings[1]?.remedy).toEqual(['kubectl uncordon worker-3'])
  })

  test('a preference keeps nobody away, and a node without virt-handler is not its matter', () => {
    const changes = { 'worker-1': taint('gpu', 'PreferNoSchedule'), 'cp-1': cordon }
    expect(withNodes(nodeSchedulable, changes).is).toBe('passed')
  })

  test.each<[object[], string]>(fixture.tolerations as never)('tolerations %j: %s', (tolerations, is) => {
    const snapshot = wholeCluster({ nodes: known(...nodes({ 'worker-1': taint('gpu') })) })
    for (const { spec } of itemsOf(snapshot.daemonsets))
      Object.assign(spec?.template?.spec ?? {}, { tolerations })
    expect(on(nodeSchedulable, snapshot).is).toBe(is)
  })
})

describe('heartbeat', () => {
  test('four minutes are none, and neither is an old one on a node without virt-handler', () => {
    expect(withNodes(heartbeat, { 'worker-2': beat(4), 'cp-1': beat(1000) }).is).toBe('passed')
  })
})

describe('control-plane-label', () => {
  const bare = known(...nodes().filter(({ metadata }) => metadata.name.startsWith('worker')))

  test('the old label counts too', () => {
    const changed = nodes({ 'worker-1': master }).filter(({ metadata }) => metadata.name === 'worker-1')
    expect(on(controlPlaneLabel, wholeCluster({ nodes: known(...changed) })).is).toBe('passed')
  })

  test('infra.nodePlacement frees the operands, not the operator', () => {
    const placed = withSpec({ infra: { nodePlacement: {} } }, wholeCluster({ nodes: bare }))
    expect(on(controlPlaneLabel, placed, { method: 'image-tag' }).is).toBe('passed')
    expect(on(controlPlaneLabel, placed).findings[0]?.summary).toContain('and virt-operator of v1.9.0 run')
  })

  test('by tag only the operands count, and nodePlacement is the way out', () => {
    const { findings } = on(controlPlaneLabel, wholeCluster({ nodes: bare }), { method: 'image-tag' })
    expect(findings[0]?.remedy[1]).toBe(
      `kubectl -n kubevirt patch kubevirt kubevirt --type=merge -p '{"spec":{"infra":{"nodePlacement":{}}}}'`,
    )
  })

  test.each([
    ['v1.2.2', 'passed'],
    ['v1.3.0', 'found'],
    ['v2.0.0', 'found'],
  ])('%s: %s', (target, is) => {
    expect(on(controlPlaneLabel, wholeCluster({ nodes: bare }), { target }).is).toBe(is)
  })
})

describe('C2 new-gates', () => {
  const old = runs('v1.34.6+k3s1', 'containerd://2.1.5-k3s1')

  test('C2 a node that is too old for ImageVolume blocks, and the gate can be turned off', () => {
    const { findings } = withNodes(newGates, { 'worker-1': old })
    expect(said(findings)).toEqual(['blocker new-gates'])
    expect(findings[0]?.summary).toBe(
      'v1.9 turns ImageVolume on by default, and 1 node is too old for it: worker-1 (kubelet v1.34.6+k3s1, needs 1.35, containerd://2.1.5-k3s1, needs 2.3.2)',
    )
  })

  test.each([{ disabledFeatureGates: ['ImageVolume'] }, { featureGates: ['ImageVolume'] }])(
    'C2 decided on already: %o',
    (developerConfiguration) => {
      const snapshot = wholeCluster({ nodes: known(...nodes({ 'worker-1': old })) })
      expect(on(newGates, withSpec({ configuration: { developerConfiguration } }, snapshot)).is).toBe(
        'passed',
      )
    },
  )

  test('C2 only where the hop passes the release that brings it', () => {
    const snapshot = wholeCluster({ nodes: known(...nodes({ 'worker-1': old })) })
    expect(on(newGates, snapshot, { target: 'v1.8.4' }).is).toBe('passed')
    expect(on(newGates, snapshot, { target: 'v1.9.0-rc.1' }).is).toBe('found')
    expect(on(newGates, ofVersion('v1.9.0', snapshot), { target: 'v1.9.1' }).is).toBe('passed')
  })

  test('C2 cri-o is judged by its kubelet; a control-plane node without virt-handler is not', () => {
    expect(withNodes(newGates, { 'worker-1': runs('v1.35.0', 'cri-o://1.34.1'), 'cp-1': old }).is).toBe(
      'passed',
    )
  })

  test.each<[string | null, string, boolean | null]>(fixture.versions as never)(
    '%s is at least %s: %s',
    (has, needs, is) => {
      expect(atLeast(has ?? undefined, needs) ?? null).toBe(is)
    },
  )
})

describe('room-for-surge', () => {
  test('no control-plane node that is ready, not cordoned and below its limit', () => {
    // Three of KubeVirt's pods are on cp-1.
    const { findings } = withNodes(roomForSurge, { 'cp-1': full, 'cp-2': cordon, 'cp-3': notReady })
    expect(said(findings)).toEqual(['warning room-for-surge'])
    expect(findings[0]?.objects).toEqual(['node/cp-1', 'node/cp-2', 'node/cp-3'])
  })

  test('one is enough, and workers are where components may run anywhere', () => {
    expect(withNodes(roomForSurge, { 'cp-1': full, 'cp-2': cordon }).is).toBe('passed')
    const changes = { 'cp-1': full, 'cp-2': cordon, 'cp-3': notReady }
    const free = withSpec({ infra: { nodePlacement: {} } }, wholeCluster({ nodes: known(...nodes(changes)) }))
    expect(on(roomForSurge, free).is).toBe('passed')
  })

  test('the title claims no more than what was counted', () => {
    expect(roomForSurge.title).toContain('room for one extra KubeVirt pod')
  })
})

test('kvm-devices: a node that takes VMs and offers none, unless KubeVirt emulates', () => {
  const hollow = known(...nodes({ 'worker-1': offers('0'), 'worker-2': offers('1k'), 'cp-1': offers('0') }))
  const { findings } = on(kvmDevices, wholeCluster({ nodes: hollow }))
  expect(findings).toMatchObject([{ level: 'warning', objects: ['node/worker-1'] }])
  const configuration = { developerConfiguration: { useEmulation: true } }
  expect(on(kvmDevices, withSpec({ configuration }, wholeCluster({ nodes: hollow }))).is).toBe('passed')
  expect(on(kvmDevices, wholeCluster()).is).toBe('passed')
})
