import { expect, test } from 'vitest'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { byTag, minute, play } from './stage.ts'
import { outdated } from './updates.ts'

const three = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]

test('a canary after KubeVirt has moved the VMs by itself: kvup says that it proves nothing', async () => {
  await play({ ...byTag, workers: 3, methods: ['LiveMigrate'], vms: three }, async (stage) => {
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    await stage.until(10 * minute)
    const ended = await stage.update({ canary: '1' })
    expect(ended.code).toBe(0)
    expect(ended.text).toContain(
      'KubeVirt moves VMs by itself already (3 moved): a canary proves nothing. To stop that: kvup workloads pause-updates',
    )
    expect((await stage.update()).text).not.toContain('a canary proves nothing')
  })
})

test('a canary while automatic VM updates are paused is one, and nothing is said', async () => {
  await outdated(
    three,
    async (stage) => {
      const ended = await stage.update({ canary: '1', until: 'canary' })
      expect(ended.code).toBe(0)
      expect(ended.text).not.toContain('To stop that')
    },
    ['LiveMigrate'],
  )
})

test('before the upgrade kvup says how one VM is moved first', async () => {
  await play({ ...byTag, workers: 3, methods: ['LiveMigrate'], vms: three }, async (stage) => {
    const { text } = await stage.upgrade('v1.8.4')
    expect(text).toContain('Afterwards KubeVirt migrates 3 VMs (not with --leave-paused)')
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
