import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { isNodeReady } from '../nodes/handler-places.ts'
import { instancesOf } from './instances-of.ts'

/** Facts 3.3, 8 (#16353): a migration never goes to the host it comes from, and the updater never gives up. */
export const twoNodes: Check = {
  id: 'two-nodes',
  group: 'workloads',
  title: 'VMs have a second node to migrate to',
  needs: ['nodes', 'instances'],
  blocks: false,
  assess(question) {
    const count = placesForVms(question)
    const { running } = instancesOf(question)
    if (count >= 2 || running === 0) return []
    return [
      {
        id: 'two-nodes',
        level: 'warning',
        summary: `${counted(count, 'node')} can take VMs: no migration will ever succeed, and ${counted(running, 'running VM', ['keeps', 'keep'])} the old virt-launcher until a restart`,
        remedy: ['kubectl get nodes -L kubevirt.io/schedulable'],
      },
    ]
  },
}

function placesForVms({ evidence }: Question): number {
  return itemsOf(evidence.nodes).filter(
    (node) =>
      node.metadata.labels?.['kubevirt.io/schedulable'] === 'true' &&
      isNodeReady(node) &&
      !node.spec?.unschedulable,
  ).length
}
