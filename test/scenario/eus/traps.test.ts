import { describe, expect, test } from 'vitest'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { migrate, migration, outdatedCount } from '../machines.ts'
import { lying } from './lying-reader.ts'
import { minute, play, type Stage } from '../stage.ts'
import { doneSteps, eusRunOn, playTwoAt, twoWorkers418 } from './window-stage.ts'

/** The platform is at 4.19, and OLM has resolved what follows it. */
async function beforeApproval(stage: Stage): Promise<void> {
  await eusRunOn(stage, { until: 'control-plane-4.19' })
  await stage.until(20 * minute)
}

describe('trap 8: held methods stop hotplug and moves of volumes as well, and no migration that is in flight', () => {
  const slow = { ...twoWorkers418, vms: [{ name: 'web-1', migration: '60s' }] } as const

  test('kvup waits for it before it approves', () =>
    play(slow, async (stage) => {
      await beforeApproval(stage)
      await migrate(stage, 'web-1')
      const ended = await eusRunOn(stage, { until: 'operator-4.19' })
      expect(ended.error).toBeUndefined()
      expect(migration(stage, 'move-web-1')?.status?.phase).toBe('Succeeded')
      expect(ended.text).not.toContain('demo/web-1')
    }))
})

describe('trap 19: at the end the methods come first, then the VMs, then the pools', () => {
  test('kvup: no VM is outdated any more when the first pool is unpaused', () =>
    playTwoAt('operator-4.20')(async (stage) => {
      const observed: number[] = []
      stage.simulated.store.watch(MachineConfigPools, ({ object }) => {
        const { metadata, spec } = object as { metadata: { name: string }; spec?: { paused?: boolean } }
        if (metadata.name === 'worker' && spec?.paused !== true) observed.push(outdatedCount(stage))
      })
      expect(outdatedCount(stage)).toBe(2)
      // The count of the KubeVirt is stale while it updates (trap 9).
      const cluster = lying(stage.cluster, 'kubevirts', (kubevirt) => {
        kubevirt.status.outdatedVirtualMachineInstanceWorkloads = 0
        return kubevirt
      })
      const ended = await eusRunOn(stage, {}, { cluster })
      expect(ended.error).toBeUndefined()
      expect(observed[0]).toBe(0)
      // Night E12: what VMs will do is said before the methods are given back.
      const note = ended.events.flatMap((event) =>
        event.kind === 'step-done' && event.step.id === 'forecast' ? [event.note] : [],
      )
      expect(note.join()).toMatch(/KubeVirt (?:migrates|leaves)/u)
      const order = [
        'forecast',
        'resume-workload-updates',
        'workloads',
        'none-outdated',
        'unpause-worker',
        'rolled-worker',
      ]
      expect(doneSteps(ended).filter((id) => order.includes(id))).toEqual(order)
      const instances = stage.simulated.store.list(VirtualMachineInstances).items as VirtualMachineInstance[]
      expect(instances.map(({ status }) => status?.phase)).toEqual(['Running', 'Running'])
    }))
})
