import { outageLines } from '../../lib/output/views/eus/eus-plan.ts'
import type { Context } from '../../context.ts'
import { eusProcedure } from '../../lib/eus/eus-procedure.ts'
import { type EusReportDocument, joinedReport, reportOfWindow } from '../../lib/eus/run/window-report.ts'
import { eusReportView } from '../../lib/output/views/eus/eus-report.ts'
import type { RunLimits } from '../../lib/engine/step.ts'
import type { SealedPlan } from '../../lib/engine/sealed-plan.ts'
import { ticks } from '../../lib/kube/clock.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { connectedTo, askingIn } from './window-command.ts'
import { endOf, vmsAccess, vmsText, vmsToRestore, workOnWindow } from '../../lib/eus/run/window-run.ts'
import { ensureNotForgotten, seeWindow } from '../../lib/eus/run/window-snapshot.ts'
import { limitsBefore } from '../change-options.ts'
import { gateOf } from '../run-change.ts'
import { type EusRunOptions, requestOf } from '../../lib/eus/run/eus-options.ts'
import { readEusPlan, asPlanned, withSealedHops, ensureEusFits } from '../../lib/eus/run/sealed-window.ts'
import {
  isLastWindow,
  behindOf,
  ensurePools,
  windowQuestion,
  announceWindow,
  limitsIn,
  gatingFindings,
} from '../../lib/eus/run/window-course.ts'

/** `kvup eus run`: from where the cluster stands to the end of the window; what is under way goes on. With `--plan` exactly that plan, or nothing. */
export async function eusRun(cx: Context, typed: EusRunOptions): Promise<ExitCode> {
  const { plan: file } = typed
  if (file === undefined) return runWindow(cx, typed)
  if (file === '-' && !cx.flags.yes)
    throw usageError('contradiction', 'standard input cannot carry both the plan and your answer', {
      remedy: 'add --yes, or pass the plan as a file',
    })
  const sealed = await readEusPlan(cx, file)
  return runWindow(cx, asPlanned(typed, sealed), sealed)
}

/** Where pools follow hop by hop, each is a window of its own (night E10): one after the other, until the target is reached. */
async function runWindow(cx: Context, options: EusRunOptions, sealed?: SealedPlan): Promise<ExitCode> {
  const limits = await limitsBefore(cx, options)
  const began = ticks(cx.clock)
  const reports: EusReportDocument[] = []
  for (let to = options.to; ;) {
    const timeoutMs = Math.max(1, limits.timeoutMs - (ticks(cx.clock) - began))
    const typed = { ...options, ...(to !== undefined && { to }) }
    const { report, code, next } = await oneWindow(cx, typed, { limits: { ...limits, timeoutMs }, sealed })
    reports.push(report)
    if (next === undefined) {
      const joined = joinedReport([reports[0] ?? report, ...reports.slice(1)])
      cx.printer.result(joined, eusReportView)
      return endOf(joined, code)
    }
    cx.printer.note(`platform and virtualization are at ${report.to}: on to ${next}`)
    to = next
  }
}

interface Within {
  limits: RunLimits
  sealed: SealedPlan | undefined
}

interface EndedWindow {
  report: EusReportDocument
  code: ExitCode
  /** The minor at the end of the way, where it is not reached yet. */
  next?: string
}

async function oneWindow(
  cx: Context,
  options: EusRunOptions,
  { limits: all, sealed }: Within,
): Promise<EndedWindow> {
  const request = requestOf(options, cx.world.commandLine)
  const snapshot = await seeWindow(cx, options, request, askingIn(cx, options))
  const windowSnapshot = sealed ? withSealedHops(snapshot, sealed) : snapshot
  if (!windowSnapshot.planned.accepted.some(({ id }) => id === 'pool-paused-already'))
    await ensureNotForgotten(windowSnapshot)
  ensurePools(options, windowSnapshot)
  const { past, ...limits } = limitsIn(all, {
    ...windowSnapshot,
    behind: await behindOf(cx, windowSnapshot, all),
  })
  if (past !== undefined) {
    const notes = [`${past} is done already`]
    const report = await reportOfWindow(cx, windowSnapshot, { outcome: 'nothing-to-do', steps: [], notes })
    return { report, code: exitCode.done }
  }
  const where = await connectedTo(cx)
  const machines = isLastWindow(windowSnapshot) ? await vmsToRestore(cx, windowSnapshot.cluster.reader) : []
  const ended = await workOnWindow(cx, windowSnapshot, {
    procedure: eusProcedure(windowSnapshot.window, machines),
    gate: gateOf(
      gatingFindings(windowSnapshot.planned.plan.findings, { isOpen: windowSnapshot.open !== undefined }),
      windowSnapshot.planned.accepted,
    ),
    question: windowQuestion(windowSnapshot),
    limits,
    dryRun: options.dryRun,
    end: 'done',
    alsoNeeds: vmsAccess(machines),
    announce: () =>
      announceWindow(cx, windowSnapshot, {
        where: [...where, ...vmsText(machines)],
        outages: outageLines(windowSnapshot.planned.plan),
      }),
    ...(sealed && { sealed: sealed.seal.uid, ensureFits: () => ensureEusFits(cx, windowSnapshot, sealed) }),
  })
  const { to } = windowSnapshot.planned.plan
  return ended.report.outcome === 'done' && !isLastWindow(windowSnapshot) ? { ...ended, next: to } : ended
}
