import type { Context } from '../../context.ts'
import { planView } from '../../lib/output/views/upgrade-plan.ts'
import { passGate } from '../../lib/run/gate.ts'
import { usageError } from '../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import type { UpgradeOptions } from '../upgrade/options.ts'
import { readerFor } from '../reader-for.ts'
import { planUpgrade } from '../upgrade/planned.ts'
import { afterPlan } from '../upgrade/carry-out-lines.ts'
import { planDocument } from '../upgrade/show-plan.ts'
import { savePlan } from './save-plan.ts'

export interface PlanOptions extends Omit<UpgradeOptions, 'timeout' | 'pauseBefore'> {
  exitCode?: boolean
  toFile?: string
  from?: string
}

/** `kvup plan`: what an upgrade would do, as a document that `kvup upgrade --plan` carries out unchanged or not at all. */
export async function plan(cx: Context, options: PlanOptions): Promise<ExitCode> {
  if (options.to === undefined)
    throw usageError('no-target', 'say where to go', {
      remedy: ['kvup plan --to VERSION', 'kvup upgrade      says what can be reached'],
    })
  const { cluster, clock, saved } = await readerFor(cx, options.from)
  const there: Context = { ...cx, clock, cluster: () => Promise.resolve(cluster) }
  const asked = { ...options, timeout: '60m', pauseBefore: [] }
  const { planned, madeFrom } = await planUpgrade(there, asked, { readNow: true, asks: false })
  const next = afterPlan(cx.world.commandLine, options.toFile)
  const document = await planDocument(planned, madeFrom, { mode: saved ? 'client' : 'auto', next })
  if (options.toFile !== undefined) await savePlan(cx.world, options.toFile, document)
  cx.printer.result(document, planView)
  if (document.pending) passGate(planned.findings, planned.accepted)
  return document.pending && options.exitCode ? exitCode.asked : exitCode.done
}
