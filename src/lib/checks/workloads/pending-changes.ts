import type { Check } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'
import { instancesOf } from './instances-of.ts'

/** Facts 5, 8 (#17329): the workload updater carries them out, so they wait while an upgrade holds it. */
export const pendingChanges: Check = {
  id: 'pending-changes',
  group: 'workloads',
  title: 'no change of CPU, memory or volumes is on its way',
  needs: ['instances'],
  blocks: false,
  assess(question) {
    const { count, names } = instancesOf(question).pendingChanges
    if (count === 0) return []
    const held = !question.installation.workloadUpdateMethods.includes('LiveMigrate')
    return [
      {
        id: 'pending-changes',
        level: 'warning',
        summary: `${counted(count, 'VM', ['waits', 'wait'])} for a change of CPU, memory or volumes (${someOf(names, count)}): ${
          held
            ? 'LiveMigrate is not among workloadUpdateMethods, so it is never carried out'
            : 'while the upgrade holds workload updates it stands still'
        }`,
        objects: names,
        remedy: ['kubectl get virtualmachineinstancemigrations -A'],
      },
    ]
  },
}
