import type { Reader } from '../../lib/cluster/cluster.ts'
import { newControllerLeads } from '../../lib/facts/controller.ts'
import { takeSnapshot } from '../../lib/facts/snapshot.ts'
import { countWorkloads } from '../../lib/facts/workload-count.ts'
import type { Clock } from '../../lib/system/clock.ts'
import { forbidden } from '../../lib/system/errors.ts'
import { roleRemedy } from '../../lib/system/role-remedy.ts'
import { countUnlabelled } from '../../lib/workloads/unlabelled.ts'

/**
 * Why "no VMI is labelled outdated" does not say yet that none is (lab 10, 15); undefined when it does. Lists all VMIs. Throws
 * `forbidden` where it cannot be told, now or later. Who leads is a doubt: another release may elect otherwise, so it is asked about only while the patience
 * lasts; VMIs that are not labelled are counted ones, and waited for.
 */
export async function outdatedUnseen(
  reader: Reader,
  clock: Clock,
  patience: { isOver: boolean },
): Promise<string | undefined> {
  const snapshot = await takeSnapshot(reader, ['pods', 'leases'], clock)
  const leads = newControllerLeads(snapshot)
  if (leads === undefined)
    throw forbidden('leader-not-known', 'it cannot be told which virt-controller leads', {
      notes: ['before one of the new version does, nothing can be said of outdated instances'],
      remedy: roleRemedy('kvup-view'),
    })
  if (!leads && !patience.isOver) return 'a virt-controller of the new version to take its Lease'
  const left = await countUnlabelled(reader, snapshot)
  if (left > 0) return `virt-controller to label ${left} outdated VMIs`
  // Last: what was labelled since the look that asked for this counts.
  const { outdated } = await countWorkloads(reader)
  return outdated === 0 ? undefined : `${outdated} VMIs that are labelled outdated now`
}
