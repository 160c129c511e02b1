import type { Context } from '../../context.ts'
import type { Finding } from '../../lib/checks/finding.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import { planView, type PlanDocument } from '../../lib/output/views/upgrade-plan.ts'
import { rehearse } from '../../lib/procedure/rehearse.ts'
import type { JournalReader, Procedure } from '../../lib/procedure/step.ts'
import type { AcceptedRisk } from '../../lib/checks/report.ts'
import { passGate } from '../../lib/run/gate.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import { heading } from '../../lib/upgrade/report.ts'
import type { UpgradePlan } from '../../lib/upgrade/plan.ts'

interface Rehearsal {
  cx: Context
  cluster: Cluster
  journal: JournalReader
  plan: UpgradePlan
  procedure: Procedure
  findings: readonly Finding[]
  accepted: readonly AcceptedRisk[]
  mode: 'client' | 'server'
}

/** `--dry-run`: the plan document, each step with what it would do; the gate's answer comes after it. */
export async function rehearseUpgrade({
  cx,
  plan,
  procedure,
  findings,
  accepted,
  ...how
}: Rehearsal): Promise<ExitCode> {
  const steps = await rehearse(procedure, { ...how, clock: cx.clock, signal: cx.signal })
  const document: PlanDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'UpgradePlan',
    dryRun: how.mode,
    ...heading(plan),
    holds: plan.holds,
    said: plan.said,
    findings,
    accepted,
    steps,
  }
  cx.printer.result(document, planView)
  passGate(findings, accepted)
  return exitCode.done
}
