import { describe, expect, test } from 'vitest'
import { type Reader, readerWith } from '../../../src/lib/kube/cluster.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import type { Event, Node } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { unmetLabels } from '../../../src/lib/kube/selectors.ts'
import { launcherTrouble } from '../../../src/lib/kubevirt/diagnosis/launcher-trouble.ts'
import { evacuationRemedy, stuckMigrations } from '../../../src/lib/kubevirt/diagnosis/stuck-migrations.ts'
import { inspectVms, vmCauses, vmProblems } from '../../../src/lib/kubevirt/diagnosis/vm-troubles.ts'
import { areFewMigrations, openMigrations } from '../../../src/lib/kubevirt/diagnosis/stuck-migrations.ts'
import { vmTroubleLines } from '../../../src/lib/output/views/report-lines.ts'
import { exampleOf } from './example.ts'
import fixture from './stuck-vms.json' with { type: 'json' }

const at = new Date('2026-11-21T10:00:00Z')
const ago = (minutes: number) => new Date(at.getTime() - minutes * 60_000).toISOString()

const node = (name: string, labels: Record<string, string> = {}, unschedulable = false): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubevirt.io/schedulable': 'true', ...labels } },
  spec: { unschedulable },
})

const vmi = (name: string, status: VirtualMachineInstance['status'] = {}): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: 'demo', uid: `uid-${name}`, creationTimestamp: ago(60) },
  status: { phase: 'Running', nodeName: 'worker-1', ...status },
})

const migration = (
  phase = 'Running',
  minutes = 10,
  spec: VirtualMachineInstanceMigration['spec'] = {},
): VirtualMachineInstanceMigration => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceMigration',
  metadata: { name: 'move', namespace: 'demo', uid: 'uid-move', creationTimestamp: ago(minutes) },
  spec: { vmiName: 'web-1', ...spec },
  status: { phase, phaseTransitionTimestamps: [{ phase, phaseTransitionTimestamp: ago(minutes) }] },
})

const owner = (name: string) => [
  {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    name,
    uid: `uid-${name}`,
    controller: true,
  },
]

const launcher = (status: Pod['status'] = {}, spec: Pod['spec'] = { nodeName: 'worker-2' }): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'virt-launcher-web-1-x',
    namespace: 'demo',
    uid: 'uid-pod',
    creationTimestamp: ago(10),
    labels: {
      'kubevirt.io': 'virt-launcher',
      'kubevirt.io/created-by': 'uid-web-1',
      'kubevirt.io/migrationJobUID': 'uid-move',
    },
    ownerReferences: owner('web-1'),
  },
  spec,
  status: { phase: 'Pending', ...status },
})

const unscheduled = {
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False' as const,
      reason: 'Unschedulable',
      message: "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
    },
  ],
}

const warning = (reason: string, message: string, about: Partial<Event['involvedObject']> = {}): Event => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: `${reason}.1`.toLowerCase(), namespace: 'demo' },
  type: 'Warning',
  reason,
  message,
  lastTimestamp: ago(1),
  involvedObject: { kind: 'Pod', name: 'virt-launcher-web-1-x', namespace: 'demo', uid: 'uid-pod', ...about },
})

const readerOf = (...objects: readonly KubeObject[]): Reader => exampleOf(objects, at.toISOString()).reader
const stuck = (one: VirtualMachineInstanceMigration, ...objects: readonly KubeObject[]) =>
  stuckMigrations(readerOf(...objects), [one], at)

describe('which label no node has', () => {
  const nodes = [node('a', { zone: 'one', disk: 'ssd' }), node('b', { zone: 'two' })]
  test.each<[string, Parameters<typeof unmetLabels>[0], string | null]>(fixture.labels as never)(
    '%s',
    (_, pod, expected) => {
      expect(unmetLabels(pod, nodes)?.sentence).toBe(expected ?? undefined)
    },
  )

  test('where no node is known nothing is said', () => {
    expect(unmetLabels({ nodeSelector: { zone: 'x' } }, [])).toBeUndefined()
  })
})

const trouble = (pod: Pod, events: readonly Event[] = [], nodes: readonly Node[] = []) =>
  launcherTrouble(pod, { nodes, events, at })
const asking = (key: string) => launcher(unscheduled, { nodeSelector: { [key]: 'true' } })

describe('why a launcher does not get on', () => {
  test('init containers that do not end are told as kubectl counts them; one that is done is passed over', () => {
    const initContainerStatuses = fixture.unfinished
    expect(trouble(launcher({ initContainerStatuses }))).toMatchObject(fixture.trouble)
    const young = { ...launcher({ initContainerStatuses }) }
    young.metadata = { ...young.metadata, creationTimestamp: ago(1) }
    expect(trouble(young)).toBeUndefined()
  })

  test('a native sidecar that runs is no init container that does not end', () => {
    const initContainerStatuses = [{ name: 'guest-console-log', started: true, state: { running: {} } }]
    expect(trouble(launcher({ initContainerStatuses }))).toBeUndefined()
  })

  test.each(fixture.events as [string, string, string, string][])(
    'event %s: %s',
    (reason, text, message, first) => {
      const found = trouble(launcher(), [warning(reason, text)])
      expect([found?.message, found?.remedy[0]]).toEqual([message, first])
    },
  )

  test('an event about another pod of that name, or of before it had a node, says nothing', () => {
    expect(trouble(launcher(), [warning('FailedMount', 'no', { uid: 'uid-former' })])).toBeUndefined()
    expect(trouble(launcher(), [warning('FailedScheduling', '0/3 nodes')])).toBeUndefined()
  })

  test('the name of an event is a word of a shell where it is printed', () => {
    const hostile = warning('FailedCreatePodSandBox', '[demo/br1;reboot]: failed to find plugin "x" in path')
    expect(trouble(launcher(), [hostile])?.remedy).toEqual([
      'kubectl -n demo describe pod virt-launcher-web-1-x',
    ])
  })

  test('a label that the node-labeller writes is mended by a restart, one of a person is shown', () => {
    const nodes = [node('worker-1'), node('worker-2')]
    expect(trouble(asking('cpu-feature.node.kubevirt.io/ipred-ctrl'), [], nodes)).toMatchObject(
      fixture.mended,
    )
    expect(trouble(asking('team'), [], nodes)?.remedy[1]).toMatch(/get vm web-1 .*shows what asks for it$/u)
    expect(trouble(asking('team'), [], [])?.message).toMatch(/^0\/2 nodes/u)
  })
})

describe('migrations that do not get on', () => {
  test.each(
    fixture.stuck as unknown as [
      string,
      VirtualMachineInstanceMigration,
      readonly KubeObject[],
      string | null,
    ][],
  )('%s', async (_, one, objects, expected) => {
    expect((await stuck(one, ...objects)).map(({ sentence }) => sentence)).toEqual(
      expected === null ? [] : [expected],
    )
  })

  test('where nothing is late, no pod is asked for', async () => {
    const reader = { pages: () => expect.unreachable() } as unknown as Reader
    expect(await stuckMigrations(reader, [migration('Running', 1), migration('Pending')], at)).toEqual([])
  })
})

test('a mark of a drain is taken away by virtctl from v1.7 on, before that by a migration or restart', () => {
  const marked = { namespace: 'demo', name: 'web-1', node: 'worker-3' }
  expect(evacuationRemedy(marked, 'v1.7.0')[0]).toMatch(/^virtctl -n demo evacuate-cancel vmi web-1 /u)
  expect(evacuationRemedy(marked, 'v1.6.3')).toEqual([
    expect.stringMatching(/^migrate or restart the VM, .*worker-3/u),
    expect.stringMatching(/^kubectl -n demo get virtualmachineinstance web-1 /u),
  ])
})

describe('one look at VMs', () => {
  const running = ['web-2', 'web-3', 'web-4'].map((name) => vmi(name))

  test('a VMI that lost its launcher counts from when it stopped to be ready, and no pod is told', async () => {
    const conditions = [
      { type: 'Ready', status: 'False' as const, reason: 'PodNotExists', lastTransitionTime: ago(20) },
    ]
    const { troubles } = await inspectVms(
      readerOf(vmi('web-1', { phase: 'Scheduling', conditions }), ...running),
      at,
      'v1.6.0',
    )
    expect(troubles).toMatchObject({
      count: 1,
      reasons: [{ status: 'Scheduling', since: ago(20), cause: 'there is no virt-launcher pod' }],
    })
    expect(troubles.reasons[0]?.known).toBeUndefined()
    expect(vmProblems(troubles)).toEqual(['1 VM is not running as it should'])
  })

  test('where most VMs stay on their way, what is known of the release is said in the cause', async () => {
    const idle = ['a', 'b', 'c'].map((name) => vmi(name, { phase: 'Scheduling' }))
    const of = async (version: string) =>
      vmCauses((await inspectVms(readerOf(...idle), at, version)).troubles, at)[0]?.sentence
    expect(await of('v1.6.0')).toMatch(/^3 of 3 VMs .*kubevirt issue 15355 .*without a known fix/u)
    expect(await of('v1.5.1')).not.toContain('15355')
  })

  test('a VMI without a pod is explained by the last warning about it', async () => {
    const about = { kind: 'VirtualMachineInstance', name: 'web-1', uid: 'uid-web-1' }
    const { troubles } = await inspectVms(
      readerOf(vmi('web-1', { phase: 'Pending' }), warning('FailedCreate', 'quota is used up', about)),
      at,
      undefined,
    )
    expect(troubles.reasons[0]?.cause).toBe('FailedCreate: quota is used up')
  })

  test('where pods may not be read it is said that nobody knows which migrations are stuck', async () => {
    const whole = readerOf(vmi('web-1'), migration())
    const blind = readerWith(whole, {
      pages: (kind, where) => {
        if (kind.kind === 'Pod') throw new ApiError(403, 'Forbidden', 'pods is forbidden')
        return whole.pages(kind, where)
      },
    })
    const { troubles } = await inspectVms(blind, at, 'v1.7.0')
    expect(troubles).toMatchObject({ stuckUnknown: 'pods is forbidden' })
    expect(vmTroubleLines(troubles)).toEqual([
      'kvup does not know which migrations are stuck: pods is forbidden',
    ])
    expect((await inspectVms(whole, at, 'v1.7.0')).troubles).not.toHaveProperty('stuckUnknown')
  })

  test('a mark of a drain counts where its node takes pods again', async () => {
    const marked = vmi('web-1', { evacuationNodeName: 'worker-1' })
    const look = async (unschedulable: boolean) =>
      (await inspectVms(readerOf(marked, node('worker-1', {}, unschedulable)), at, 'v1.7.0')).troubles
    expect((await look(false)).leftBehind).toMatchObject([{ vm: 'web-1', node: 'worker-1' }])
    expect(await look(true)).not.toHaveProperty('leftBehind')
    expect(vmProblems(await look(false))).toEqual(['1 VM still marked to leave a node'])
    expect((await look(false)).leftBehind?.[0]?.sentence).toContain(
      'unless a descheduler has just evicted it',
    )
  })

  test('a migration that hangs is told, and changes no verdict', async () => {
    const { troubles } = await inspectVms(readerOf(vmi('web-1'), migration()), at, 'v1.8.4')
    expect(troubles).toMatchObject({ count: 0, stuck: [{ vm: 'web-1', migration: 'move' }] })
    expect(vmCauses(troubles, at)).toEqual([])
  })
})

test('of more migrations than a look reads one page is read, and it is said that the rest is not checked', async () => {
  const one = migration()
  let pages = 0
  const withMany = (remaining: number) =>
    readerWith(readerOf(vmi('web-1'), one), {
      async *pages(kind) {
        if (kind.kind !== 'VirtualMachineInstanceMigration') return
        pages++
        yield { items: [one], resourceVersion: '1', remaining } as never
        pages++
        yield { items: [], resourceVersion: '1' }
      },
    })
  expect(await openMigrations(withMany(4999))).toEqual({ open: [one] })
  expect(pages).toBe(2)
  expect(await areFewMigrations(withMany(4999))).toBe(true)
  pages = 0
  expect(await openMigrations(withMany(5000))).toEqual({
    open: [one],
    unread: 'KubeVirt keeps more than 5000 of them (kvup workloads migrations reads all)',
  })
  expect(await areFewMigrations(withMany(5000))).toBe(false)
  expect(pages).toBe(2)
})
