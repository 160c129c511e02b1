import { earliest } from '../facts/elapsed.ts'
import { outdatedLabel } from '../facts/workload-count.ts'
import { VirtualMachineInstances } from '../cluster/kinds/virtual-machines.ts'
import type { Step, StepState } from '../procedure/step.ts'
import { readOwner } from './find-owner.ts'
import { countMoving } from './forecast.ts'
import { type HeldUp, heldUpVms } from './held-up.ts'
import { methodsOf, type Owner } from './update-methods.ts'
import { hours, seconds } from '../system/units.ts'
import { clusterEvictionOf } from './cluster-eviction.ts'

/** Waits until no VM is outdated but those that the present methods leave where they are. */
export function workloadsMoved(owner: Owner): Step {
  return {
    id: 'workloads',
    title: 'virtual machines on the new virt-launcher',
    patience: { every: 15 * seconds, atMost: 24 * hours },
    estimate: 600 * seconds,
    follows: [{ kind: VirtualMachineInstances, where: { labels: outdatedLabel } }],
    risk: { undo: 'none', safeToLeave: 'always: KubeVirt goes on by itself' },
    async check({ reader, clock }): Promise<StepState> {
      const kubevirt = await readOwner(reader, owner)
      const rules = { methods: methodsOf(kubevirt), clusterEviction: clusterEvictionOf(kubevirt) }
      const { moving, staying } = await countMoving(reader, rules, outdatedLabel)
      if (moving === 0) return { is: 'done', ...(staying > 0 && { note: `${staying} stay outdated` }) }
      const on = `${moving} outdated ${moving === 1 ? 'VM' : 'VMs'} to move`
      return heldUpOr(await heldUpVms(reader, clock.now()), moving, on)
    },
  }
}

/** Stalled where none of those that are to move can. */
function heldUpOr(found: readonly HeldUp[], moving: number, on: string): StepState {
  if (found.length === 0) return { is: 'waiting', on }
  const why = found.map(({ sentence }) => sentence).join('; ')
  const remedy = found.flatMap(({ look }) => look)
  const held = new Set(found.flatMap(({ vms }) => vms))
  if (held.size < moving) return { is: 'waiting', on, trouble: why, remedy }
  const from = earliest(found.map(({ since }) => since))
  return { is: 'stalled', on, why, remedy, ...(from !== undefined && { since: from }) }
}
