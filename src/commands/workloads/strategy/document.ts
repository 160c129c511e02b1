import type { WorkloadStrategyDocument } from '../../../lib/output/views/workload-strategy.ts'
import { readOwner } from '../../../lib/workloads/find-owner.ts'
import { loanOn } from '../../../lib/workloads/loan-on.ts'
import { effectiveSettings } from '../../../lib/workloads/strategy/effective-settings.ts'
import { keptMethods } from '../../../lib/workloads/update-methods.ts'
import { ownerInDocument, type SettingsWork } from '../settings-work.ts'

/** What is in effect now, read again, with what is borrowed of it. */
export async function strategyDocument({
  cluster: { reader },
  owner,
  hands,
  installation: { name, namespace },
}: SettingsWork): Promise<WorkloadStrategyDocument> {
  const [holding, kubevirt, loans] = await Promise.all([
    readOwner(reader, owner),
    readOwner(reader, owner.kubevirt),
    hands.journal.loans(),
  ])
  const loan = loanOn(owner, loans)
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadStrategy',
    kubevirt: { name, namespace },
    owner: ownerInDocument(owner),
    ...(version !== undefined && { version }),
    ...(loan && { held: { methods: keptMethods(loan), by: loan.by, at: loan.at } }),
    items: effectiveSettings(owner, holding, kubevirt),
  }
}
