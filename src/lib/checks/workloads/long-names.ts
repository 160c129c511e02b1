import type { Check } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'
import { instancesOf } from './instances-of.ts'

/** Names of the migrations that the workload updater makes, and of their pods, grow from the VM's. */
export const longNames: Check = {
  id: 'long-names',
  group: 'workloads',
  title: 'the names of VMs leave room for what a migration adds',
  needs: ['instances'],
  blocks: false,
  assess(question) {
    const { count, names } = instancesOf(question).longNames
    if (count === 0) return []
    return [
      {
        id: 'long-names',
        level: 'warning',
        summary: `${counted(count, 'VM', ['has', 'have'])} a name of more than 47 characters: ${someOf(names, count)}; labels made of it may be refused when it migrates`,
        objects: names,
        remedy: ['kubectl get virtualmachineinstances -A'],
      },
    ]
  },
}
