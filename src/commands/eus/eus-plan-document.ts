import { acceptedRisks } from '../../lib/checks/explanations.ts'
import type { Context } from '../../context.ts'
import { eusPlanDocument } from '../../lib/eus/plan/eus-plan-document.ts'
import { eusPlanView } from '../../lib/output/views/eus/eus-plan.ts'
import { passGate } from '../../lib/checks/check-definition.ts'
import { type ExitCode, exitCode } from '../../lib/kube/errors.ts'
import { savePlan } from '../plan/plan.ts'
import { readerFor } from '../../lib/kubevirt/read-cluster.ts'
import { plannedEus } from '../../lib/eus/plan/planned-eus.ts'
import type { EusPlanningOptions } from '../../lib/eus/run/eus-options.ts'

export interface EusPlanOptions extends EusPlanningOptions {
  exitCode?: boolean
  toFile?: string
  from?: string
}

/** `kvup eus plan`: the hops of platform and operator, what decides at each, and what speaks against it. Reads only. */
export async function planEus(cx: Context, options: EusPlanOptions): Promise<ExitCode> {
  const snapshot = await readerFor(cx, options.from, 'platform')
  const planned = await plannedEus(cx, { ...snapshot, accepted: acceptedRisks }, options)
  const document = await eusPlanDocument({ ...cx, clock: snapshot.clock }, planned, options)
  if (options.toFile !== undefined) await savePlan(cx.world, options.toFile, document)
  cx.printer.result(document, eusPlanView)
  if (document.pending) passGate(planned.plan.findings, planned.accepted)
  return document.pending && options.exitCode ? exitCode.asked : exitCode.done
}
