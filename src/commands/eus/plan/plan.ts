import type { Context } from '../../../context.ts'
import { eusPlanView } from '../../../lib/output/views/eus-plan.ts'
import { passGate } from '../../../lib/run/gate.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { savePlan } from '../../plan/save-plan.ts'
import { readerFor } from '../../reader-for.ts'
import type { EusPlanningOptions } from '../flags.ts'
import { plannedEus } from '../planned.ts'
import { eusPlanDocument } from './document.ts'

export interface EusPlanOptions extends EusPlanningOptions {
  exitCode?: boolean
  toFile?: string
  from?: string
}

/** `kvup eus plan`: the hops of platform and operator, what decides at each, and what speaks against it. Reads only. */
export async function planEus(cx: Context, options: EusPlanOptions): Promise<ExitCode> {
  const looked = await readerFor(cx, options.from, 'platform')
  const planned = await plannedEus(cx, looked, options)
  const document = await eusPlanDocument({ ...cx, clock: looked.clock }, planned, options)
  if (options.toFile !== undefined) await savePlan(cx.world, options.toFile, document)
  cx.printer.result(document, eusPlanView)
  if (document.pending) passGate(planned.plan.findings, planned.accepted)
  return document.pending && options.exitCode ? exitCode.asked : exitCode.done
}
