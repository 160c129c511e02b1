import type { Finding } from '../../../lib/checks/finding.ts'
import { evictionFinding, forecastOutdated } from '../../../lib/workloads/eviction-finding.ts'
import { narrowedLine } from '../../../lib/system/narrowed-line.ts'
import { methodsIn } from '../../../lib/workloads/strategy/owner.ts'
import { ownerFinding } from '../../../lib/workloads/strategy/owner-finding.ts'
import { dataLoss } from '../../../lib/workloads/restarts/data-loss.ts'
import type { UpdateLook } from '../../../lib/workloads/update/look.ts'
import type { SelectedVms } from '../outdated/selection.ts'
import type { SettingsWork } from '../settings-work.ts'

/** What speaks against it: data that a restart loses, evictions once the methods are given back, an owner that undoes the hold. */
export async function updateFindings(
  look: UpdateLook,
  seen: SettingsWork,
  selection: SelectedVms,
): Promise<readonly Finding[]> {
  const { owner, holding, cluster, installation } = seen
  const methods = methodsIn(holding, owner)
  const { kubevirt } = installation
  const interrupts = methods.includes('Evict') && look.fleet.left.size > 0
  return [
    ...(methods.length > 0 ? ownerFinding(owner, holding) : []),
    ...dataLoss(
      look.fleet.loses,
      `${narrowedLine('kvup workloads update', selection)}     leaves these VMs as they are`,
    ),
    ...(interrupts
      ? evictionFinding(methods, await forecastOutdated(cluster.reader, kubevirt, methods))
      : []),
  ]
}
