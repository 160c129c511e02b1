import { expect, test } from 'vitest'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { byTag, play } from './stage.ts'

const vms = [
  { name: 'failing', migration: 'fail' },
  { name: 'stuck', notMigratable: 'HostDeviceNotLiveMigratable' },
  { name: 'web-1' },
] as const

/** By hand, and over before the upgrade. */
const tried = (vmiName: string): VirtualMachineInstanceMigration => ({
  apiVersion: VirtualMachineInstanceMigrations.apiVersion,
  kind: VirtualMachineInstanceMigrations.kind,
  metadata: { name: `tried-${vmiName}`, namespace: 'demo' },
  spec: { vmiName },
})

test('--leave-paused names the line that moves one VM first, and says before the question that they stay held', async () => {
  await play({ ...byTag, workers: 2, vms }, async (stage) => {
    await stage.simulated.cluster().writer.create(VirtualMachineInstanceMigrations, tried('failing'))
    await stage.clock.sleep(30_000)
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
