import { expect, it } from 'vitest'
import {
  KubeVirts,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations as Migrations,
  VirtualMachineInstances as Instances,
  VirtualMachines,
} from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { simulate, type Simulation } from '../../../../src/simulator/simulated-cluster.ts'
import { evictionVerdict } from '../../../../src/simulator/virt-operator/virt-api.ts'
import { backOffUntil } from '../../../../src/simulator/virt-operator/migration-controller.ts'

async function cluster(simulation: Omit<Simulation, 'clock'>) {
  const clock = new SimClock()
  const simulated = await simulate({ clock, ...simulation })
  return { clock, simulated, ...simulated.cluster() }
}
const ref = (name: string) => ({ name, namespace: 'demo' })
const migration = (vmiName: string): VirtualMachineInstanceMigration => ({
  apiVersion: Migrations.apiVersion,
  kind: Migrations.kind,
  metadata: { name: `move-${vmiName}`, namespace: 'demo' },
  spec: { vmiName },
})
const ended = (at: number, phase: string, by = 'kubevirt.io/workloadUpdateMigration') => ({
  ...migration('vm'),
  metadata: { ...migration('vm').metadata, annotations: { [by]: '' } },
  status: { phase, migrationState: { endTimestamp: new Date(at * 1000).toISOString() } },
})
const restart = { name: 'restart', method: 'PUT', body: {} } as const
const evict = { name: 'eviction', method: 'POST', body: {} } as const

it.each([
  [undefined, true, { is: 'allowed' }],
  ['None', false, { is: 'allowed' }],
  ['LiveMigrate', true, { is: 'denied', evacuates: true }],
  ['LiveMigrate', false, { is: 'denied', evacuates: false }],
  ['LiveMigrateIfPossible', true, { is: 'denied', evacuates: true }],
  ['LiveMigrateIfPossible', false, { is: 'allowed' }],
  ['External', true, { is: 'denied', evacuates: false }],
])('an eviction with strategy %s and migratable %s', (strategy, migratable, verdict) => {
  expect(evictionVerdict({ name: 'vm', strategy, migratable })).toMatchObject(verdict)
})

it('the back-off doubles from 20 s to 320 s and forgets failures before a success', () => {
  const failures = [1, 2, 3, 4, 5, 6].map((at) => ended(at, 'Failed'))
  expect([1, 2, 5, 6].map((n) => backOffUntil(failures.slice(0, n)) / 1000)).toEqual([21, 42, 325, 326])
  expect(backOffUntil([...failures.slice(0, 2), ended(9, 'Succeeded')])).toBe(0)
  expect(backOffUntil([])).toBe(0)
})

it('the back-off counts what KubeVirt makes itself, and not what a person or kvup made', () => {
  const failures = ['kubevirt.io/evacuationMigration', 'kubevirt.io/workloadUpdateMigration', 'of-mine']
  expect(backOffUntil(failures.map((by, at) => ended(at, 'Failed', by))) / 1000).toBe(41)
  expect(backOffUntil([ended(1, 'Failed', 'of-mine')])).toBe(0)
})

it('PUT restart gives a VM a new instance; one that is Once or stopped refuses', async () => {
  const { clock, simulated, reader, writer } = await cluster({
    vms: [{ name: 'a' }, { name: 'b', runStrategy: 'Once' }, { name: 'c', runStrategy: 'Halted' }],
  })
  const before = await reader.get(Instances, ref('a'))
  await writer.subresource(VirtualMachines, ref('a'), restart)
  await clock.sleep(10_000)
  const after = await reader.get(Instances, ref('a'))
  expect(after).toMatchObject({ is: 'object', object: { status: { phase: 'Running' } } })
  expect(
    after.is === 'object' &&
      before.is === 'object' &&
      after.object.metadata.uid !== before.object.metadata.uid,
  ).toBe(true)
  await expect(writer.subresource(VirtualMachines, ref('b'), restart)).rejects.toMatchObject({ status: 409 })
  await expect(writer.subresource(VirtualMachines, ref('c'), restart)).rejects.toMatchObject({ status: 409 })
  await simulated.stop()
})

it('an eviction of a migratable VM is answered with 429, and the VM moves to another node', async () => {
  const { clock, simulated, reader, writer } = await cluster({ vms: 1 })
  const [pod] = await reader.list(Pods, { labels: 'kubevirt.io=virt-launcher' })
  await expect(writer.subresource(Pods, pod?.metadata ?? ref(''), evict)).rejects.toMatchObject({
    status: 429,
  })
  await clock.sleep(15_000)
  const [vmi] = await reader.list(Instances)
  expect(vmi?.status?.nodeName).not.toBe(pod?.spec?.nodeName)
  expect(vmi?.status?.evacuationNodeName).toBeUndefined()
  expect((await reader.list(Migrations))[0]?.status?.phase).toBe('Succeeded')
  await simulated.stop()
})

it('a deleted migration is cancelled: the VM stays, the target pod ends', async () => {
  const { clock, simulated, reader, writer } = await cluster({ vms: [{ name: 'vm', migration: 'hang' }] })
  const [before] = await reader.list(Instances)
  await writer.create(Migrations, migration('vm'))
  await clock.sleep(15_000)
  expect((await reader.list(Migrations))[0]?.status?.phase).toBe('Running')
  await expect(
    writer.create(Migrations, { ...migration('vm'), metadata: { name: 'second', namespace: 'demo' } }),
  ).rejects.toMatchObject({ status: 403 })
  await writer.delete(Migrations, ref('move-vm'))
  await clock.sleep(5000)
  expect(await reader.list(Migrations)).toEqual([])
  const [after] = await reader.list(Instances)
  expect(after?.status?.nodeName).toBe(before?.status?.nodeName)
  expect(after?.metadata.uid).toBe(before?.metadata.uid)
  const phases = (await reader.list(Pods, { labels: 'kubevirt.io=virt-launcher' })).map(
    (pod) => pod.status?.phase,
  )
  expect(new Set(phases)).toEqual(new Set(['Running', 'Succeeded']))
  await simulated.stop()
})

it('a migration fails when the virt-handler of its node is replaced', async () => {
  const { clock, simulated, reader, writer } = await cluster({ vms: [{ name: 'vm', migration: '60s' }] })
  await writer.create(Migrations, migration('vm'))
  await clock.sleep(10_000)
  const [vmi] = await reader.list(Instances)
  const [handler] = await reader.list(Pods, {
    labels: 'kubevirt.io=virt-handler',
    fields: `spec.nodeName=${vmi?.status?.nodeName}`,
  })
  await writer.delete(Pods, handler?.metadata ?? ref(''))
  await clock.sleep(5000)
  expect((await reader.list(Migrations))[0]?.status).toMatchObject({
    phase: 'Failed',
    migrationState: { failed: true },
  })
  await simulated.stop()
})

it('at most five migrations at once, and two from one node; a VM that cannot move is refused', async () => {
  const { clock, simulated, reader, writer } = await cluster({
    vms: [
      ...Array.from({ length: 9 }, (_, i) => ({ name: `vm-${i}`, migration: '60s' as const })),
      { name: 'pet', notMigratable: 'DisksNotLiveMigratable' },
    ],
  })
  for (const { metadata } of (await reader.list(Instances)).filter((i) => i.metadata.name !== 'pet')) {
    await writer.create(Migrations, migration(metadata.name))
  }
  await expect(writer.create(Migrations, migration('pet'))).rejects.toMatchObject({ status: 403 })
  await clock.sleep(20_000)
  const counted = (await reader.list(Migrations)).map((m) => m.status?.phase)
  expect(counted.filter((phase) => phase === 'Running')).toHaveLength(5)
  expect(counted.filter((phase) => phase === 'Pending')).toHaveLength(4)
  await simulated.stop()
})

it('without methods nothing moves, and the count says how many are outdated', async () => {
  const { clock, simulated, reader, writer } = await cluster({
    version: 'v1.7.0',
    operator: 'v1.8.4',
    method: 'image-tag',
    vms: 4,
  })
  await writer.mergePatch(
    KubeVirts,
    { name: 'kubevirt', namespace: 'kubevirt' },
    { spec: { imageTag: 'v1.8.4' } },
  )
  await clock.sleep(300_000)
  expect((await reader.list(KubeVirts))[0]?.status?.outdatedVirtualMachineInstanceWorkloads).toBe(4)
  expect(await reader.list(Instances, { labels: 'kubevirt.io/outdatedLauncherImage' })).toHaveLength(4)
  expect(await reader.list(Migrations)).toEqual([])
  await simulated.stop()
})

it('facts 3.2: what waits for a hotplug is counted without a label, and is counted no more once it has moved', async () => {
  const { clock, simulated, reader, writer } = await cluster({ version: 'v1.8.4', methods: [], vms: 2 })
  const outdated = async () =>
    (await reader.list(KubeVirts))[0]?.status?.outdatedVirtualMachineInstanceWorkloads
  const migratable = { type: 'LiveMigratable', status: 'True' } as const
  const asked = { type: 'HotVCPUChange', status: 'False' } as const
  await writer.mergePatch(Instances, ref('web-1'), { status: { conditions: [migratable, asked] } })
  await clock.sleep(60_000)
  expect(await outdated()).toBe(1)
  expect(await reader.list(Instances, { labels: 'kubevirt.io/outdatedLauncherImage' })).toEqual([])
  const workloadUpdateStrategy = { workloadUpdateMethods: ['LiveMigrate'] }
  const kubevirt = { name: 'kubevirt', namespace: 'kubevirt' }
  await writer.mergePatch(KubeVirts, kubevirt, { spec: { workloadUpdateStrategy } })
  await clock.sleep(300_000)
  expect(await reader.list(Migrations)).toHaveLength(1)
  expect(await outdated()).toBe(0)
  await simulated.stop()
})
