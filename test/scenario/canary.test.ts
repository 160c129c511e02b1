import { expect, test } from 'vitest'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { byTag, minute, play, type Stage } from './stage.ts'
import { migrate } from './machines.ts'
import { migrationsIn, outdated } from './updates.ts'

/** A tenant migrates a VM of his own, and says that this was a canary of kvup's. */
async function forgeCanary(stage: Stage, vm: string): Promise<VirtualMachineInstanceMigration> {
  const launcher = 'quay.io/kubevirt/virt-launcher:v1.8.4'
  const { apiVersion, kind } = VirtualMachineInstanceMigrations
  return stage.cluster.writer.create(VirtualMachineInstanceMigrations, {
    apiVersion,
    kind,
    metadata: {
      name: `kvup-update-${vm}`,
      namespace: 'demo',
      labels: {
        'app.kubernetes.io/managed-by': 'kvup',
        'kvup.io/canary': 'true',
        'kubevirt.io/vmi-name': vm,
      },
      annotations: { 'kvup.io/launcher': launcher },
    },
    spec: { vmiName: vm },
  })
}

const movedOf = (stage: Stage) => migrationsIn(stage).map(({ spec }) => spec?.vmiName)

test('L2 a tenant’s own migration is no canary of kvup’s: the canary is moved, and first', async () => {
  await outdated([{ name: 'tenant' }, { name: 'a' }, { name: 'b' }], async (stage) => {
    await forgeCanary(stage, 'tenant')
    await stage.until(2 * minute)
    const ended = await stage.update({ canary: '1', until: 'canary' })
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).not.toContain('To stop that')
    expect(movedOf(stage)).toEqual(['tenant', 'a'])
  })
})

test('L2 a tenant’s migration that fails does not make his VM the canary of everybody', async () => {
  await outdated([{ name: 'a' }, { name: 'z-tenant', migration: 'fail' }], async (stage) => {
    await forgeCanary(stage, 'z-tenant')
    await stage.until(5 * minute)
    const ended = await stage.update({ canary: '1', until: 'canary' })
    expect(ended).toMatchObject({ code: 0 })
    expect(movedOf(stage)).toEqual(['z-tenant', 'a'])
  })
})

test('L2 kvup’s own canary passes once, and its journal names it and the virt-launcher', async () => {
  await outdated([{ name: 'a' }, { name: 'b' }], async (stage) => {
    expect(await stage.update({ canary: '1', until: 'canary' })).toMatchObject({ code: 0 })
    const intent = (await stage.journal.entries()).find(({ step }) => step === 'canary#1')
    expect(intent).toMatchObject({
      what: 'intends',
      text: 'migrate demo/a to quay.io/kubevirt/virt-launcher:v1.8.4',
    })
    expect(await stage.update({ canary: '1', until: 'canary' })).toMatchObject({ code: 0 })
    expect(movedOf(stage)).toEqual(['a'])
  })
})

const three = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]

test('a canary after KubeVirt has moved the VMs by itself: kvup says that it proves nothing', async () => {
  await play({ ...byTag, workers: 3, methods: ['LiveMigrate'], vms: three }, async (stage) => {
    const upgraded = await stage.upgrade('v1.8.4')
    expect(upgraded.code).toBe(0)
    expect(upgraded.text).toContain('Afterwards KubeVirt migrates 3 VMs (not with --leave-paused)')
    await stage.until(10 * minute)
    const ended = await stage.update({ canary: '1' })
    expect(ended.code).toBe(0)
    expect(ended.text).toContain(
      'KubeVirt moves VMs by itself already (3 moved): a canary proves nothing. To stop that: kvup workloads pause-updates',
    )
    expect((await stage.update()).text).not.toContain('a canary proves nothing')
  })
})

test('VMs that run the virt-launcher of the target are counted, as what KubeVirt moves at most', async () => {
  await play({ ...byTag, workers: 3, methods: ['LiveMigrate'], vms: three }, async (stage) => {
    const { text: before } = await stage.upgrade('v1.8.4', { dryRun: 'client' })
    expect(before).toContain('Afterwards KubeVirt migrates 3 VMs')
    const [vmi] = await stage.cluster.reader.list(VirtualMachineInstances)
    const launcher = vmi?.status?.launcherContainerImageVersion?.replace(/:[^:]*$/u, ':v1.8.4')
    const ref = { name: vmi?.metadata.name ?? '', namespace: vmi?.metadata.namespace ?? '' }
    const status = { launcherContainerImageVersion: launcher ?? '' }
    await stage.cluster.writer.mergePatch(VirtualMachineInstances, ref, { status })
    const { text } = await stage.upgrade('v1.8.4', { dryRun: 'client' })
    expect(text).toContain('Afterwards KubeVirt migrates up to 3 VMs')
  })
})

const oneThatShutsDown = [
  { name: 'a' },
  { name: 'stuck', notMigratable: 'HostDeviceNotLiveMigratable', evictionStrategy: 'None' },
] as const

test('paused with Evict kept: a dry run of restore says what moves, and is refused as the run is, with lines that help', async () => {
  await outdated(
    oneThatShutsDown,
    async (stage) => {
      const dry = await stage.restore({ dryRun: 'client' })
      expect(dry.text).toContain('when resumed, KubeVirt migrates 1 VM')
      for (const ended of [dry, await stage.restore()]) {
        expect(ended).toMatchObject({ code: 3, error: { reason: 'evictions' } })
        expect(ended.text).not.toContain('kvup upgrade --leave-paused')
        expect(ended.error?.remedy.join('\n')).toMatch(
          /^kvup workloads update --canary 1 .*\nkvup workloads outdated /u,
        )
      }
    },
    ['LiveMigrate', 'Evict'],
  )
})

const mixed = [
  { name: 'failing', migration: 'fail' },
  { name: 'stuck', notMigratable: 'HostDeviceNotLiveMigratable' },
  { name: 'web-1' },
] as const

test('--leave-paused names the line that moves one VM first, and says before the question that they stay held', async () => {
  await play({ ...byTag, workers: 2, vms: mixed }, async (stage) => {
    await migrate(stage, 'failing')
    await stage.until(minute / 2)
    const ended = await stage.upgrade('v1.8.4', { leavePaused: true })
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'done', workloads: { paused: true } }] })
    expect(ended.text).toContain('are paused until kvup workloads resume-updates')
    expect(ended.text).toContain('kvup workloads update --canary 1     moves the VMs, one of them first')
  })
})

test('stopped by --until: the line that goes on does not stop there again', async () => {
  await play(byTag, async (stage) => {
    const commandLine = 'kvup upgrade --to v1.8.4 --until set-image-tag --stable-for 1m'
    const ended = await stage.upgrade('v1.8.4', { until: 'set-image-tag' }, { commandLine })
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'stopped-before' }] })
    expect(ended.text).toContain('kvup upgrade --to v1.8.4 --stable-for 1m     goes on from here')
  })
})

test('a VM that has migrated is not taken for one that runs twice: its old launcher is listed until it is gone', async () => {
  await play({ ...byTag, workers: 2, vms: [{ name: 'web-1' }, { name: 'web-2' }] }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { waitWorkloads: true })).toMatchObject({ code: 0 })
    const items = await stage.cluster.reader.list(VirtualMachineInstances)
    expect(items.map(({ status }) => Object.keys(status?.activePods ?? {}).length)).toEqual([2, 2])
    const checked = await stage.check('v1.9.0', { all: true })
    expect(checked.text).toContain('+ no VM has two virt-launchers without a migration (two-launchers)')
  })
})
