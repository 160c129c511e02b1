import type { Context } from '../../../context.ts'
import { eusProcedure } from '../../../lib/eus/run/procedure.ts'
import { stepsBehind } from '../../../lib/eus/run/steps-behind.ts'
import { type EusReportDocument, eusReportView } from '../../../lib/output/views/eus-report.ts'
import type { RunLimits } from '../../../lib/procedure/run-context.ts'
import type { SealedPlan } from '../../../lib/seal/read-sealed.ts'
import { ticks } from '../../../lib/system/clock.ts'
import { usageError } from '../../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { limitsBefore } from '../../limits-before.ts'
import { connectedTo } from '../connected-to.ts'
import { ensureNotForgotten } from '../deduced.ts'
import { machinesToGiveBack, machinesAccess, machinesText } from '../machines-to-give-back.ts'
import { type EusRunOptions, requestOf } from '../run-flags.ts'
import { askingIn, type SeenWindow, seeWindow } from '../see-window.ts'
import { announceWindow } from './announce.ts'
import { endOf, workOnWindow } from './carry-out-window.ts'
import { gatingFindings } from './gating.ts'
import { joinedReport } from './joined-report.ts'
import { reportOfWindow } from './report.ts'
import { asPlanned, ensureEusFits, readEusPlan, withSealedHops } from './sealed.ts'
import { limitsIn } from './step-limits.ts'

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
  const looked = await seeWindow(cx, options, request, askingIn(cx, options))
  const seen = sealed ? withSealedHops(looked, sealed) : looked
  if (!seen.planned.accepted.some(({ id }) => id === 'pool-paused-already')) await ensureNotForgotten(seen)
  ensurePools(options, seen)
  const { past, ...limits } = limitsIn(all, { ...seen, behind: await behindOf(cx, seen, all) })
  if (past !== undefined) {
    const notes = [`${past} is done already`]
    const report = await reportOfWindow(cx, seen, { outcome: 'nothing-to-do', steps: [], notes })
    return { report, code: exitCode.done }
  }
  const where = await connectedTo(cx)
  const machines = isLastWindow(seen) ? await machinesToGiveBack(cx, seen.cluster.reader) : []
  const ended = await workOnWindow(cx, seen, {
    procedure: eusProcedure(seen.window, machines),
    findings: gatingFindings(seen.planned.plan.findings, { isOpen: seen.open !== undefined }),
    question: questionOf(seen),
    limits,
    dryRun: options.dryRun,
    end: 'done',
    alsoNeeds: machinesAccess(machines),
    announce: () => announceWindow(cx, seen, [...where, ...machinesText(machines)]),
    ...(sealed && { sealed: sealed.seal.uid, ensureFits: () => ensureEusFits(cx, seen, sealed) }),
  })
  const { to } = seen.planned.plan
  return ended.report.outcome === 'done' && !isLastWindow(seen) ? { ...ended, next: to } : ended
}

const isLastWindow = ({ window, planned }: SeenWindow): boolean => window.to === planned.plan.to

/** Asked only where a step is named. */
async function behindOf(
  { clock }: Context,
  { window, cluster: { reader }, hands: { journal } }: SeenWindow,
  { until, pauseBefore = [] }: RunLimits,
): Promise<(id: string) => boolean> {
  if (until === undefined && pauseBefore.length === 0) return () => false
  return stepsBehind(window, { reader, clock, journal }, until)
}

/** A pool that is not there would come last, and nobody would be told. Throws `usage`. */
function ensurePools({ poolOrder }: EusRunOptions, { planned, window }: SeenWindow): void {
  const { pools, hops } = planned.plan
  // At the target the same line is no mistake.
  if (pools.length === 0 && hops.length === 0) return
  const wrong = poolOrder.find((name) => !pools.some((pool) => pool.name === name))
  if (wrong === undefined) return
  throw usageError(
    'no-such-pool',
    `--pool-order names ${JSON.stringify(wrong)}, which is no pool to unpause`,
    {
      remedy:
        window.way === 'plain'
          ? 'leave it out: on this way pools are not paused, and follow the platform'
          : `the pools are: ${pools.map(({ name }) => name).join(', ')}`,
    },
  )
}

function questionOf({ window, planned, open }: SeenWindow): string {
  const { from } = planned.plan
  return open === undefined
    ? `Take the platform from ${from} to ${window.to}?`
    : `Go on to ${window.to}, from ${from}?`
}
