import { outdatedLabel } from '../facts/workload-count.ts'
import { VirtualMachineInstances } from '../cluster/kinds/virtual-machines.ts'
import type { Step, StepState } from '../procedure/step.ts'
import { readOwner } from './find-owner.ts'
import { countMoving } from './forecast.ts'
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
    async check({ reader }): Promise<StepState> {
      const kubevirt = await readOwner(reader, owner)
      const rules = { methods: methodsOf(kubevirt), clusterEviction: clusterEvictionOf(kubevirt) }
      const { moving, staying } = await countMoving(reader, rules, outdatedLabel)
      if (moving === 0) return { is: 'done', ...(staying > 0 && { note: `${staying} stay outdated` }) }
      return { is: 'waiting', on: `${moving} outdated ${moving === 1 ? 'VM' : 'VMs'} to move` }
    },
  }
}
