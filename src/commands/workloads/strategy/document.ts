import type { WorkloadStrategyDocument } from '../../../lib/output/views/workload-strategy.ts'
import { readOwner } from '../../../lib/workloads/find-owner.ts'
import { giveBackLine } from '../../../lib/workloads/held-lines.ts'
import { loanOn } from '../../../lib/workloads/loan-on.ts'
import { effectiveSettings } from '../../../lib/workloads/strategy/effective-settings.ts'
import { gateFinding } from '../../../lib/workloads/strategy/live-migration-gate.ts'
import {
  overridingPolicies,
  readMigrationPolicies,
} from '../../../lib/workloads/strategy/overriding-policies.ts'
import { keptMethods, methodsOf } from '../../../lib/workloads/update-methods.ts'
import { ownerInDocument, type SettingsWork } from '../settings-work.ts'

/** What is in effect now, read again, with what is borrowed of it. */
export async function strategyDocument({
  cluster: { reader },
  owner,
  hands,
  installation: { name, namespace },
}: SettingsWork): Promise<WorkloadStrategyDocument> {
  const [holding, kubevirt, loans, policies] = await Promise.all([
    readOwner(reader, owner),
    readOwner(reader, owner.kubevirt),
    hands.journal.loans(),
    readMigrationPolicies(reader),
  ])
  const items = effectiveSettings(owner, holding, kubevirt)
  const findings = gateFinding(kubevirt, methodsOf(kubevirt))
  const loan = loanOn(owner, loans)
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadStrategy',
    kubevirt: { name, namespace },
    owner: ownerInDocument(owner),
    ...(version !== undefined && { version }),
    ...(loan && {
      held: { methods: keptMethods(loan), by: loan.by, at: loan.at, giveBack: giveBackLine(loan) },
    }),
    items,
    ...(policies.known
      ? { policies: overridingPolicies(policies.items, items) }
      : { remarks: [`whether MigrationPolicies override them is not known: ${policies.why}`] }),
    ...(findings.length > 0 && { findings }),
  }
}
