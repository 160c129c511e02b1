import { describe, expect, it } from 'vitest'
import {
  type ClusterOperator,
  ClusterOperators,
  Infrastructures,
  MachineConfigPools,
} from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { okd419 } from '../../../../src/simulator/openshift/openshift-shape.ts'
import { minute, platform, type Platform } from './platform.ts'

/** When each operator says for the first time that it is at the version, in order. */
function arrivals({ store }: Platform, version: string): string[] {
  const order: string[] = []
  store.watch(ClusterOperators, ({ object }) => {
    const { metadata, status } = object as ClusterOperator
    const own = status?.versions?.find(({ name }) => name === 'operator')?.version
    if (own === version && !order.includes(metadata.name)) order.push(metadata.name)
  })
  return order
}

async function updateTo(p: Platform, version: string): Promise<void> {
  await p.desire({ version })
  await p.clock.sleep(75 * minute)
}

it('ocp 3.1: an update goes from Partial to Completed within the hour, operator by operator, the masters last', async () => {
  const p = await platform({ channel: 'stable-4.19' })
  const order = arrivals(p, '4.19.14')
  await p.pause('worker', true)
  await p.pause('gpu', true)
  await p.desire({ version: '4.19.14' })
  await p.clock.sleep(minute)
  const begun = (await p.version()).status
  expect(begun.desired?.version).toBe('4.19.14')
  expect(begun.history?.slice(0, 2)).toMatchObject([
    { state: 'Partial', version: '4.19.14', completionTime: null },
    { state: 'Completed', version: '4.18.21' },
  ])
  expect(condition({ status: begun }, 'Progressing')?.message).toMatch(
    /^Working towards 4\.19\.14: \d+ of 901 done/,
  )
  await p.clock.sleep(70 * minute)
  const { status } = await p.version()
  const [update] = status.history ?? []
  expect(update).toMatchObject({ state: 'Completed', version: '4.19.14' })
  const took = Date.parse(update?.completionTime ?? '') - Date.parse(update?.startedTime ?? '')
  expect(took / minute).toBeGreaterThan(45)
  expect(took / minute).toBeLessThan(65)
  expect(condition({ status }, 'Progressing')).toMatchObject({
    status: 'False',
    message: 'Cluster version is 4.19.14',
  })
  expect(order.slice(0, 3)).toEqual(['config-operator', 'etcd', 'kube-apiserver'])
  expect(order.at(-1)).toBe('machine-config')
  expect(order).toHaveLength((await p.reader.list(ClusterOperators)).length)
})

it('ocp 3.5: a platform update takes the masters along, and of the workers those that are not paused', async () => {
  const p = await platform({ channel: 'stable-4.19' })
  await p.pause('worker', true)
  await updateTo(p, '4.19.14')
  const kubelets = Object.fromEntries(
    (await p.nodes()).map(({ metadata, status }) => [metadata.name, status?.nodeInfo?.kubeletVersion]),
  )
  expect(kubelets).toMatchObject({ 'master-2': 'v1.32.4', 'worker-0': 'v1.31.7', 'gpu-0': 'v1.32.4' })
  expect((await p.nodes()).filter(({ spec }) => spec?.unschedulable)).toEqual([])
})

it('the server’s own version follows kube-apiserver, in the middle of the update', async () => {
  const p = await platform({ channel: 'stable-4.19' })
  expect((await p.reader.version()).gitVersion).toBe('v1.31.7')
  await p.desire({ version: '4.19.14' })
  await p.clock.sleep(20 * minute)
  expect((await p.version()).status.history?.[0]?.state).toBe('Partial')
  expect(await p.reader.version()).toEqual({ gitVersion: 'v1.32.4', major: '1', minor: '32' })
})

it('trap 16: right after the patch nothing has changed but the generation, so Progressing=False proves nothing', async () => {
  const p = await platform({ channel: 'stable-4.19' })
  await p.desire({ version: '4.19.14' })
  const { metadata, status } = await p.version()
  expect(condition({ status }, 'Progressing')?.status).toBe('False')
  expect(status.observedGeneration).toBe((metadata.generation ?? 0) - 1)
  await p.clock.sleep(5000)
  expect((await p.version()).status.observedGeneration).toBe(metadata.generation)
})

it('ocp 3.1: Upgradeable is absent where all is well, and says that an update is under way', async () => {
  const p = await platform({ channel: 'stable-4.19' })
  expect(condition(await p.version(), 'Upgradeable')).toBeUndefined()
  await p.desire({ version: '4.19.14' })
  await p.clock.sleep(5 * minute)
  expect(condition(await p.version(), 'Upgradeable')).toMatchObject({
    status: 'False',
    reason: 'UpdateInProgress',
  })
  await p.clock.sleep(100 * minute)
  expect(condition(await p.version(), 'Upgradeable')).toBeUndefined()
})

it('ocp 3.2: half-way it may be sent to another patch of that minor, which leaves a Partial behind, and to no other minor', async () => {
  const p = await platform({ channel: 'eus-4.20' })
  await p.desire({ version: '4.19.10' })
  await p.clock.sleep(20 * minute)
  await p.desire({ version: '4.20.3' })
  await p.clock.sleep(minute)
  const { status } = await p.version()
  expect(condition({ status }, 'ReleaseAccepted')).toMatchObject({
    status: 'False',
    reason: 'PreconditionChecks',
  })
  expect(status.desired?.version).toBe('4.19.10')
  await p.desire({ version: '4.19.14' })
  await p.clock.sleep(minute)
  expect((await p.version()).status.history).toMatchObject([
    { state: 'Partial', version: '4.19.14', completionTime: null },
    { state: 'Partial', version: '4.19.10', completionTime: expect.any(String) },
    { state: 'Completed', version: '4.18.21' },
    {},
  ])
  await p.clock.sleep(100 * minute)
  expect((await p.version()).status.history?.[0]).toMatchObject({ state: 'Completed', version: '4.19.14' })
})

it('ocp 3.7: OKD counts on behind the minor, in one channel', async () => {
  const p = await platform({ ...okd419, healthChecks: [] })
  expect((await p.version()).status.availableUpdates?.map(({ version }) => version)).toEqual([
    '4.19.0-okd-scos.16',
  ])
  await updateTo(p, '4.19.0-okd-scos.16')
  const { status } = await p.version()
  expect(status.history?.[0]).toMatchObject({ state: 'Completed', version: '4.19.0-okd-scos.16' })
  expect(status.availableUpdates?.map(({ version }) => version)).toEqual(['4.20.0-okd-scos.4'])
})

describe('other topologies', () => {
  it('one node alone updates itself, as the master that it is', async () => {
    const p = await platform({ topology: 'SingleReplica', healthChecks: [], channel: 'stable-4.19' })
    await updateTo(p, '4.19.14')
    expect((await p.version()).status.history?.[0]?.state).toBe('Completed')
    expect((await p.nodes()).map(({ status }) => status?.nodeInfo?.kubeletVersion)).toEqual(['v1.32.4'])
    expect((await p.pool('worker')).status.machineCount).toBe(0)
  })

  it('a control plane that is elsewhere has no pools, and its machines stay as they are', async () => {
    const p = await platform({ topology: 'External', healthChecks: [], channel: 'stable-4.19' })
    expect(await p.reader.list(MachineConfigPools)).toEqual([])
    await updateTo(p, '4.19.14')
    expect((await p.version()).status.history?.[0]?.state).toBe('Completed')
    expect((await p.nodes()).map(({ status }) => status?.nodeInfo?.kubeletVersion)).toEqual([
      'v1.31.7',
      'v1.31.7',
      'v1.31.7',
    ])
    const [infrastructure] = await p.reader.list(Infrastructures)
    expect(infrastructure?.status?.controlPlaneTopology).toBe('External')
  })
})
