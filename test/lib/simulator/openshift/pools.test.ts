import { describe, expect, it } from 'vitest'
import {
  type Node,
  Nodes,
  type PodDisruptionBudget,
  PodDisruptionBudgets,
} from '../../../../src/lib/kube/kinds/core-kinds.ts'
import {
  type MachineConfig,
  MachineConfigPools,
  MachineConfigs,
} from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { type Pod, Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { minute, platform, type Platform } from './platform.ts'

const said = async (p: Platform, pool: string): Promise<string> => {
  const object = await p.pool(pool)
  return ['Updated', 'Updating', 'Degraded'].map((type) => condition(object, type)?.status).join(' ')
}

/** Something for the machines of a role to take up. */
const config = (name: string, role: string): MachineConfig => ({
  apiVersion: MachineConfigs.apiVersion,
  kind: MachineConfigs.kind,
  metadata: { name, labels: { 'machineconfiguration.openshift.io/role': role } },
  spec: { config: { ignition: { version: '3.4.0' }, storage: { files: [{ path: `/etc/${name}` }] } } },
})
const change = ({ writer }: Platform, role = 'worker') =>
  writer.create(MachineConfigs, config(`99-${role}-chrony`, role))

/** The most nodes of a pool that were down at once. */
function mostDown({ store }: Platform, prefix: string): { most: number } {
  const down = new Set<string>()
  const observed = { most: 0 }
  store.watch(Nodes, ({ object }) => {
    if (!object.metadata.name.startsWith(prefix)) return
    const ready = condition(object as Node, 'Ready')?.status === 'True'
    down[ready ? 'delete' : 'add'](object.metadata.name)
    observed.most = Math.max(observed.most, down.size)
  })
  return observed
}

describe('a paused pool (ocp 3.5)', () => {
  it('trap 18: is neither Updated nor Updating while something waits, and says so', async () => {
    const p = await platform()
    await p.pause('worker', true)
    await p.clock.sleep(minute)
    expect(await said(p, 'worker')).toBe('True False False')
    await change(p)
    await p.clock.sleep(60 * minute)
    expect(await said(p, 'worker')).toBe('False False False')
    const { spec, status } = await p.pool('worker')
    const message = `Pool is paused; will not update to MachineConfig ${spec?.configuration?.name}`
    expect(condition({ status }, 'Updating')?.message).toBe(message)
    expect(status).toMatchObject({ machineCount: 3, updatedMachineCount: 0, unavailableMachineCount: 0 })
    expect(status.configuration?.name).not.toBe(spec?.configuration?.name)
  })

  it('trap 18: unpaused it says for some seconds what it said before, then Updating, then Updated', async () => {
    const p = await platform()
    await p.pause('worker', true)
    await change(p)
    await p.clock.sleep(5 * minute)
    const before = condition(await p.pool('worker'), 'Updating')
    await p.pause('worker', false)
    await p.clock.sleep(3000)
    const stale = await p.pool('worker')
    expect(condition(stale, 'Updating')).toEqual(before)
    expect(stale.status.observedGeneration).toBeLessThan(stale.metadata.generation ?? 0)
    await p.clock.sleep(10_000)
    expect(await said(p, 'worker')).toBe('False True False')
    await p.clock.sleep(30 * minute)
    expect(await said(p, 'worker')).toBe('True False False')
    const { spec, status } = await p.pool('worker')
    expect(status).toMatchObject({
      updatedMachineCount: 3,
      readyMachineCount: 3,
      configuration: spec?.configuration,
    })
  })

  it('paused half-way: the node that is under way finishes, no other begins', async () => {
    const p = await platform()
    await change(p)
    await p.clock.sleep(minute)
    await p.pause('worker', true)
    await p.clock.sleep(30 * minute)
    expect((await p.pool('worker')).status).toMatchObject({
      updatedMachineCount: 1,
      unavailableMachineCount: 0,
    })
  })
})

it('ocp 3.5: nodes go one at a time: cordoned, emptied, NotReady, back, uncordoned', async () => {
  const p = await platform()
  const down = mostDown(p, 'worker')
  const steps: string[] = []
  p.store.watch(Nodes, ({ object }) => {
    if (object.metadata.name !== 'worker-0') return
    const { spec, metadata } = object as Node
    const state = metadata.annotations?.['machineconfiguration.openshift.io/state']
    const now = `${state}${spec?.unschedulable ? ' cordoned' : ''} ${condition(object as Node, 'Ready')?.status}`
    if (steps.at(-1) !== now) steps.push(now)
  })
  await change(p)
  await p.clock.sleep(40 * minute)
  expect(down.most).toBe(1)
  expect(steps).toEqual([
    'Done True',
    'Done cordoned True',
    'Working cordoned True',
    'Rebooting cordoned True',
    'Rebooting cordoned Unknown',
    'Rebooting cordoned True',
    'Done cordoned True',
    'Done True',
  ])
})

it('maxUnavailable lets more go together', async () => {
  const p = await platform({
    pools: [
      { name: 'master', nodes: 3 },
      { name: 'worker', nodes: 4, maxUnavailable: '50%' },
    ],
  })
  const down = mostDown(p, 'worker')
  await change(p)
  await p.clock.sleep(30 * minute)
  expect(down.most).toBe(2)
  expect(await said(p, 'worker')).toBe('True False False')
})

it('trap 18: a node of a custom pool is the custom pool’s, with worker’s configuration under its own', async () => {
  const p = await platform()
  await change(p, 'gpu')
  await p.clock.sleep(30 * minute)
  expect((await p.pool('gpu')).status).toMatchObject({ machineCount: 2, updatedMachineCount: 2 })
  expect((await p.pool('gpu')).spec?.configuration?.source?.map(({ name }) => name)).toEqual([
    '00-worker',
    '99-gpu-chrony',
  ])
  expect((await p.pool('worker')).status.machineCount).toBe(3)
})

it('a node that changes to a pool with the same content does not restart', async () => {
  const p = await platform()
  const down = mostDown(p, 'worker')
  const labels = { 'node-role.kubernetes.io/gpu': '' }
  await p.writer.mergePatch(Nodes, { name: 'worker-0' }, { metadata: { labels } })
  await p.clock.sleep(5 * minute)
  expect((await p.pool('gpu')).status).toMatchObject({ machineCount: 3, updatedMachineCount: 3 })
  expect(down.most).toBe(0)
})

describe('a paused master pool (ocp 3.5)', () => {
  it('keeps the update from its end, and machine-config says why', async () => {
    const p = await platform({ channel: 'stable-4.19' })
    await p.pause('master', true)
    await p.desire({ version: '4.19.14' })
    await p.clock.sleep(80 * minute)
    expect((await p.version()).status.history?.[0]?.state).toBe('Partial')
    const degraded = condition(await p.operator('machine-config'), 'Degraded')
    expect(degraded).toMatchObject({ status: 'True', reason: 'RequiredPoolsFailed' })
    expect(degraded?.message).toContain(
      'MachineConfigPool master is paused and cannot sync until it is unpaused',
    )
    await p.pause('master', false)
    await p.clock.sleep(30 * minute)
    expect((await p.version()).status.history?.[0]?.state).toBe('Completed')
    expect(condition(await p.operator('machine-config'), 'Degraded')?.status).toBe('False')
  })
})

describe('a drain (ocp 3.5)', () => {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'only', namespace: 'default', labels: { app: 'only' } },
    spec: { nodeName: 'worker-0', containers: [{ name: 'it', image: 'it:1' }] },
  }
  const budget: PodDisruptionBudget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'only', namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'only' } } },
  }

  it('keeps to budgets, asks again, says after an hour that it fails, and goes on once it may', async () => {
    const p = await platform({}, { objects: [pod, budget], evictions: true })
    await change(p)
    await p.clock.sleep(50 * minute)
    expect(await said(p, 'worker')).toBe('False True False')
    expect(await p.reader.list(Pods, { name: 'only' })).toHaveLength(1)
    await p.clock.sleep(20 * minute)
    const { status } = await p.pool('worker')
    expect(status.degradedMachineCount).toBe(1)
    expect(condition({ status }, 'NodeDegraded')?.message).toContain(
      'failed to drain node: worker-0 after 1 hour',
    )
    expect(condition(await p.operator('machine-config'), 'Upgradeable')?.reason).toBe('DegradedPool')
    await p.writer.delete(PodDisruptionBudgets, budget.metadata)
    await p.clock.sleep(40 * minute)
    expect(await said(p, 'worker')).toBe('True False False')
    expect(await p.reader.list(Pods, { name: 'only' })).toHaveLength(0)
    expect(condition(await p.operator('machine-config'), 'Degraded')?.status).toBe('False')
  })
})

it('a node that does not drain, and one that does not come back, hold their pool until the fault is over', async () => {
  const p = await platform(
    { healthChecks: [] },
    { faults: { undrainableNodes: ['worker-0'], lostNodes: ['gpu-0'] } },
  )
  await change(p)
  await p.clock.sleep(90 * minute)
  expect(await said(p, 'worker')).toBe('False True True')
  expect((await p.pool('gpu')).status).toMatchObject({ updatedMachineCount: 0, unavailableMachineCount: 1 })
  const [lost] = await p.reader.list(Nodes, { name: 'gpu-0' })
  expect(condition(lost ?? {}, 'Ready')?.status).toBe('Unknown')
  p.faults.set({ undrainableNodes: undefined, lostNodes: undefined })
  await p.clock.sleep(40 * minute)
  expect([await said(p, 'worker'), await said(p, 'gpu')]).toEqual(['True False False', 'True False False'])
})

it('somebody adds a pool in the window, whose machines update at once; somebody unpauses another', async () => {
  const p = await platform()
  await p.pause('worker', true)
  await change(p)
  p.faults.set({ addedPool: { name: 'infra', nodes: 1 }, unpausedPools: ['worker'] })
  await p.clock.sleep(minute)
  const [added] = await p.reader.list(MachineConfigPools, { name: 'infra' })
  expect(added?.spec?.paused).toBe(false)
  expect((await p.pool('worker')).spec?.paused).toBe(false)
  await p.pause('worker', true)
  p.faults.set({ rebootTime: minute })
  await p.clock.sleep(minute)
  expect((await p.pool('worker')).spec?.paused).toBe(true)
  expect((await p.pool('infra')).status.machineCount).toBe(1)
})
