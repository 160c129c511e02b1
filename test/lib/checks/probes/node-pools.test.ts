import { expect, test } from 'vitest'
import type { Node } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import type { Pod } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { nodePools, planProbes } from '../../../../src/lib/checks/probes/probe-plan.ts'
import type { TargetImage } from '../../../../src/lib/checks/probes/target-images.ts'
import { parseVersion } from '../../../../src/lib/releases/release-versions.ts'
import { known, question } from '../evidence.ts'
import { nodes, notReady, wholeCluster } from '../whole-cluster.ts'
import { itemsOf } from '../../../../src/lib/kube/known.ts'
import { componentLabel } from '../../../../src/lib/kubevirt/installed-components.ts'

/** virt-handler on the workers, everything else on the control plane, as the operator puts it. */
function pools(changes: Record<string, (node: Node) => void> = {}, to = 'v1.9.0', all = nodes(changes)) {
  const whole = wholeCluster()
  const here = itemsOf(whole.pods)
  const handler = here.find((pod) => componentLabel(pod) === 'virt-handler')
  const others = here.filter((pod) => componentLabel(pod) !== 'virt-handler')
  const pods = [
    ...others.map((pod, i) => onNode(pod, `cp-${(i % 3) + 1}`)),
    ...['worker-1', 'worker-2', 'worker-3'].flatMap((name) => (handler ? [onNode(handler, name)] : [])),
  ]
  const snapshot = { ...whole, nodes: known(...all), pods: known(...pods) }
  return nodePools(question({ snapshot, target: to }), parseVersion(to))
}

const onNode = (pod: Pod, nodeName: string): Pod => ({ ...pod, spec: { ...pod.spec, nodeName } })

const infra = ['operator', 'infra']

test('C6 nodes that are alike are one pool, and one of them is asked', () => {
  expect(pools()).toEqual([
    { places: infra, nodes: ['cp-1', 'cp-2', 'cp-3'], node: 'cp-1' },
    { places: ['workloads'], nodes: ['worker-1', 'worker-2', 'worker-3'], node: 'worker-1' },
  ])
})

const apart: readonly (readonly [what: string, change: (node: Node) => void])[] = [
  ['architecture', ({ status }) => Object.assign(status?.nodeInfo ?? {}, { architecture: 'arm64' })],
  [
    'container runtime',
    ({ status }) => Object.assign(status?.nodeInfo ?? {}, { containerRuntimeVersion: 'cri-o://1.35.0' }),
  ],
  ['operating system', ({ status }) => Object.assign(status?.nodeInfo ?? {}, { osImage: 'Talos' })],
  ['taint', (node) => Object.assign(node, { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } })],
  [
    'group of a cloud',
    ({ metadata }) => Object.assign(metadata.labels ?? {}, { 'eks.amazonaws.com/nodegroup': 'b' }),
  ],
  ['role', ({ metadata }) => Object.assign(metadata.labels ?? {}, { 'node-role.kubernetes.io/gpu': '' })],
]

test.each(apart)('C6 another %s is another pool', (_, change) => {
  expect(pools({ 'worker-2': change }).slice(1)).toEqual([
    { places: ['workloads'], nodes: ['worker-1', 'worker-3'], node: 'worker-1' },
    { places: ['workloads'], nodes: ['worker-2'], node: 'worker-2' },
  ])
})

const cordoned = (node: Node) =>
  void Object.assign(node, {
    spec: {
      unschedulable: true,
      taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
    },
  })

test('C6 a node in passing trouble is no pool of its own, and another one is asked', () => {
  expect(
    pools({ 'worker-1': cordoned, 'cp-1': notReady }).map(({ node, nodes: all }) => [node, all.length]),
  ).toEqual([
    ['cp-2', 3],
    ['worker-2', 3],
  ])
  expect(pools({ 'worker-1': cordoned, 'worker-2': notReady, 'worker-3': notReady }).at(-1)?.node).toBe(
    'worker-1',
  )
})

test('C6 a pool without a ready node has none to ask', () => {
  const gone = { 'worker-1': notReady, 'worker-2': notReady, 'worker-3': notReady }
  expect(pools(gone).at(-1)).toEqual({ places: ['workloads'], nodes: ['worker-1', 'worker-2', 'worker-3'] })
})

test('C6 without a control plane to be seen, components are taken to stay where they are', () => {
  const managed = nodes().filter(({ metadata }) => metadata.name.startsWith('worker'))
  expect(pools({}, 'v1.9.0', managed)).toEqual([
    { places: ['workloads'], nodes: ['worker-1', 'worker-2', 'worker-3'], node: 'worker-1' },
  ])
})

const image = (of: string, place: TargetImage['place'], more: object = {}): TargetImage => ({
  of,
  place,
  needed: true,
  pulling: {},
  image: `r/${of}:1`,
  ...more,
})

test('C6 an image is tried once per pool, for all that it is for', () => {
  const same = { image: 'r/virt-operator:1' }
  const { probes, untried } = planProbes(
    [
      image('virt-operator', 'operator', same),
      image('the install strategy', 'infra', same),
      image('virt-launcher', 'workloads'),
    ],
    pools(),
  )
  expect(probes.map(({ of, node }) => [of, node])).toEqual([
    [['virt-operator', 'the install strategy'], 'cp-1'],
    [['virt-launcher'], 'worker-1'],
  ])
  expect(untried).toEqual([])
})

test('C6 the same image with another pull secret is another try', () => {
  const secret = { image: 'r/virt-operator:1', pulling: { imagePullSecrets: [{ name: 'a' }] } }
  const { probes } = planProbes(
    [image('virt-operator', 'operator'), image('the install strategy', 'infra', secret)],
    pools(),
  )
  expect(probes).toHaveLength(2)
})

test('C6 what cannot be tried is said, with why', () => {
  const { probes, untried } = planProbes(
    [
      image('virt-launcher', 'workloads'),
      { of: 'x', place: 'infra', needed: false, pulling: {}, unknown: 'nobody says' },
    ],
    [{ places: ['workloads'], nodes: ['worker-1', 'worker-2'] }],
  )
  expect(probes).toEqual([])
  expect(untried).toMatchObject([
    {
      of: ['virt-launcher'],
      is: 'untried',
      needed: true,
      nodes: ['worker-1', 'worker-2'],
      why: 'no node of its pool is ready',
    },
    { of: ['x'], is: 'untried', needed: false, why: 'nobody says' },
  ])
  expect(planProbes([image('virt-api', 'infra')], []).untried).toMatchObject([
    { why: 'it has no node to run on' },
  ])
})
