import type { Check } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'
import { instancesOf } from './instances-of.ts'

/** Night U1 and C4: what evacuates them are migrations, which the virt-handler roll kills. */
export const nodeDrained: Check = {
  id: 'node-drained',
  group: 'workloads',
  title: 'no VM is being moved off a drained node',
  needs: ['instances'],
  blocks: true,
  assess(question) {
    const { count, names } = instancesOf(question).evacuating
    if (count === 0) return []
    return [
      {
        id: 'node-drained',
        level: 'blocker',
        summary: `${counted(count, 'VM', ['is', 'are'])} being moved off a node that is drained (${someOf(names, count)}): the virt-handler roll would kill these migrations`,
        objects: names,
        remedy: [
          'kubectl get virtualmachineinstances -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,LEAVES:.status.evacuationNodeName',
        ],
      },
    ]
  },
}
