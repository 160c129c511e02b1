import { itemsOf } from '../../facts/known.ts'
import type { Check } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'

/** Facts 5, 8 (#16719): an upgrade was seen to add VMs to this list; what is in it today was there before. */
export const restartRequired: Check = {
  id: 'restart-required',
  group: 'workloads',
  title: 'no VM waits for a restart',
  needs: ['machines'],
  blocks: false,
  assess({ evidence }) {
    const waiting = itemsOf(evidence.machines)[0]?.restartRequired
    if (!waiting || waiting.count === 0) return []
    return [
      {
        id: 'restart-required',
        level: 'info',
        summary: `${counted(waiting.count, 'VM', ['is', 'are'])} RestartRequired today (${someOf(waiting.names, waiting.count)}): what joins them during the upgrade comes from it`,
        objects: waiting.names,
        remedy: [
          `kubectl get virtualmachines -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,RESTART:'.status.conditions[?(@.type=="RestartRequired")].message'`,
        ],
      },
    ]
  },
}
