import type { Check } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'
import { instancesOf } from './instances-of.ts'

/** Facts 8 (#15373, #18670, #12773): one VM that runs twice damages its disk; an entry may also be a stale one. */
export const twoLaunchers: Check = {
  id: 'two-launchers',
  group: 'workloads',
  title: 'no VM has two virt-launchers without a migration',
  needs: ['instances'],
  blocks: true,
  assess(question) {
    const { count, names } = instancesOf(question).twoLaunchers
    const [first = ''] = names
    if (count === 0) return []
    const [namespace = '', name = ''] = first.split('/')
    return [
      {
        id: 'two-launchers',
        level: 'blocker',
        summary: `${counted(count, 'VM', ['has', 'have'])} two active virt-launcher pods and no migration (${someOf(names, count)}): it may run twice, which damages its disk`,
        objects: names,
        remedy: [
          `kubectl -n ${namespace} get pods -l kubevirt.io=virt-launcher -o wide`,
          `kubectl -n ${namespace} get virtualmachineinstance ${name} -o jsonpath='{.status.activePods}'`,
        ],
      },
    ]
  },
}
