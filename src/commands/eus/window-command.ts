import { sanitiseDeep } from '../../lib/output/terminal.ts'
import { eusQuestionLines } from '../../lib/output/views/upgrade/before-question.ts'
import { eusProcedure } from '../../lib/eus/eus-procedure.ts'
import {
  type BrokenEusReport,
  type EusReportDocument,
  joinedReport,
  reportOfWindow,
} from '../../lib/eus/run/window-report.ts'
import type { ReadContext, RunLimits } from '../../lib/engine/step.ts'
import type { SealedPlan } from '../../lib/engine/sealed-plan.ts'
import { ticks } from '../../lib/kube/clock.ts'
import { exitCode, type ExitCode, KvupError, usageError } from '../../lib/kube/errors.ts'
import {
  afterwards,
  armedByOthers,
  type Asking,
  beforehand,
  behindOf,
  endsAtApprovals,
  endsBeforeApprovals,
  ensureDeducible,
  ensureNotForgotten,
  ensurePools,
  gatingFindings,
  isLastWindow,
  limitsIn,
  restoredText,
  seeWindow,
  timeAndApproval,
  windowQuestion,
  type WindowSnapshot,
} from '../../lib/eus/run/window-snapshot.ts'
import { askAboutMissing, gateOf, tellEnd, tellMeasured, tellScreen } from '../run-change.ts'
import { measurementOf, measureRequest } from '../../lib/availability/measurement.ts'
import type { Measurement } from '../../lib/availability/measurement.ts'
import { asPlanned, ensureEusFits, readEusPlan, withSealedHops } from '../../lib/eus/sealed-window.ts'
import { abortProcedure, abortState } from '../../lib/eus/abort-procedure.ts'
import {
  endOf,
  type EusRunOptions,
  requestOf,
  vmsAccess,
  vmsText,
  vmsToRestore,
  type WindowWork,
  workOnWindow,
} from '../../lib/eus/run/window-run.ts'
import { limitsBefore } from '../command-options.ts'
import { acceptedRisks } from '../../lib/checks/explanations.ts'
import type { Context } from '../../context.ts'
import { eusReportView } from '../../lib/output/views/eus/eus-report.ts'

/** Shows what it would do, or carries it out, and prints the report. */
export async function carryOutWindow(
  cx: Context,
  windowSnapshot: WindowSnapshot,
  work: WindowWork,
): Promise<ExitCode> {
  const { report, code } = await workOnWindow(cx, windowSnapshot, work)
  cx.printer.result(report, eusReportView)
  return endOf(report, code)
}

/** Which cluster, as whom: said before the question of a window. Nothing where no kubeconfig says it; the cluster was reached otherwise then. */
export async function connectedTo({
  flags,
  world,
}: Pick<Context, 'flags' | 'world'>): Promise<readonly string[]> {
  const { describeConnection } = await import('../../lib/kube/http/target.ts')
  try {
    const { server, context, user } = await describeConnection(flags, world.env)
    return [`cluster ${server}${context === undefined ? '' : ` (context ${context})`}, as ${user}`]
  } catch (error) {
    if (error instanceof KvupError) return []
    throw error
  }
}

/** A person is asked, or a name that was accepted says it; a dry run asks nobody. */
export function askingIn(
  cx: Context,
  { accept, dryRun = 'none' }: { accept: readonly string[]; dryRun?: string },
): Asking {
  return {
    accepted: acceptedRisks,
    async settle(journal) {
      if (dryRun === 'none') await askAboutMissing(journal, cx, { accept })
    },
  }
}

/** `kvup eus abort`: gives back what is borrowed, by where the window stands (night E2); what cannot be undone is listed before the question. */
export async function eusAbort(cx: Context, options: EusRunOptions): Promise<ExitCode> {
  const request = requestOf(options, cx.world.commandLine)
  const limits = await limitsBefore(cx, options)
  const windowSnapshot = await seeWindow(cx, options, request, askingIn(cx, options))
  ensureDeducible(windowSnapshot)
  const reading: ReadContext = {
    reader: windowSnapshot.cluster.reader,
    clock: cx.clock,
    journal: windowSnapshot.environment.journal,
  }
  const state = await abortState(windowSnapshot.window, reading)
  const vms = await vmsToRestore(cx, windowSnapshot.cluster.reader)
  const theirs = await armedByOthers(windowSnapshot)
  const where = await connectedTo(cx)
  const since = cx.clock.now().toISOString()
  const { report, code } = await workOnWindow(cx, windowSnapshot, {
    procedure: abortProcedure(windowSnapshot.window, { overrides: windowSnapshot.overrides, vms }),
    gate: () => undefined,
    question: `End the EUS upgrade to ${windowSnapshot.window.to} at ${state.at}, and restore its temporary changes?`,
    limits,
    dryRun: options.dryRun,
    end: 'aborted',
    alsoNeeds: vmsAccess(vms),
    announce: () =>
      [
        ...where,
        ...restoredText(windowSnapshot.overrides, state),
        ...beforehand(state, windowSnapshot),
        ...theirs,
        ...vmsText(vms),
        ...timeAndApproval(windowSnapshot, state),
      ].forEach((line) => cx.printer.note(line)),
  })
  const ran = report.outcome !== 'dry-run' && report.outcome !== 'nothing-to-do'
  const notes = ran ? [...(await afterwards(state, windowSnapshot, since)), ...report.notes] : report.notes
  cx.printer.result({ ...report, notes }, eusReportView)
  return endOf(report, code)
}

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
  measureRequest(options)
  const limits = await limitsBefore(cx, options)
  const began = ticks(cx.clock)
  const reports: EusReportDocument[] = []
  const measuring = new MeasuredWindows(cx, options)
  try {
    for (let to = options.to; ;) {
      const timeoutMs = Math.max(1, limits.timeoutMs - (ticks(cx.clock) - began))
      const typed = { ...options, ...(to !== undefined && { to }) }
      const within = { limits: { ...limits, timeoutMs }, sealed, measuring }
      const { report, code, next } = await oneWindow(cx, typed, within)
      reports.push(report)
      if (next === undefined) {
        const joined = joinedReport([reports[0] ?? report, ...reports.slice(1)])
        measuring.end({ document: joined, view: eusReportView })
        return endOf(joined, code)
      }
      cx.printer.note(`platform and virtualization are at ${report.to}: on to ${next}`)
      to = next
    }
  } finally {
    measuring.endEarly(reports)
  }
}

/** One measurement beside all windows of a run, and its last document; where KubeVirt is, is known with the first. */
class MeasuredWindows {
  readonly #cx: Context
  readonly #options: EusRunOptions
  #measurement: Measurement | undefined
  #isTold = false
  /** Of the window that ended early, as far as it got. */
  broken: BrokenEusReport | undefined

  constructor(cx: Context, options: EusRunOptions) {
    this.#cx = cx
    this.#options = options
  }

  of({ cluster, installation: { namespace } }: WindowSnapshot): Measurement | undefined {
    return (this.#measurement ??= measurementOf(this.#cx, this.#options, { cluster, namespace }))
  }

  end(told: Parameters<typeof tellEnd>[1]): void {
    this.#measurement?.end()
    tellEnd(this.#cx.printer, told, this.#measurement)
    this.#isTold = true
  }

  /** Where nothing was told yet. `before`: of the windows that came to their end. */
  endEarly(before: readonly EusReportDocument[]): void {
    this.#measurement?.end()
    if (this.#isTold) return
    if (this.broken === undefined) return tellMeasured(this.#cx, this.#measurement)
    const steps = [...before, this.broken].flatMap((report) => report.steps)
    const document: BrokenEusReport = {
      ...this.broken,
      from: before[0]?.from ?? this.broken.from,
      steps,
    }
    this.end({ document, view: { text: () => [], names: () => [] }, isEarly: true })
  }
}

interface Within {
  limits: RunLimits
  sealed: SealedPlan | undefined
  measuring: MeasuredWindows
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
  { limits: all, sealed, measuring }: Within,
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
  const vms = isLastWindow(windowSnapshot) ? await vmsToRestore(cx, windowSnapshot.cluster.reader) : []
  const ended = await workOnWindow(cx, windowSnapshot, {
    procedure: eusProcedure(windowSnapshot.window, vms),
    ...gateOf(
      cx,
      gatingFindings(windowSnapshot.planned.plan.findings, { isOpen: windowSnapshot.open !== undefined }),
      windowSnapshot.planned.accepted,
    ),
    question: windowQuestion(windowSnapshot),
    limits,
    dryRun: options.dryRun,
    end: 'done',
    measurement: measuring.of(windowSnapshot),
    broken: (report) => (measuring.broken = report),
    alsoNeeds: vmsAccess(vms),
    async announce() {
      const { cluster, environment, open, planned } = windowSnapshot
      const user = await environment.user()
      const approval = endsAtApprovals(windowSnapshot) ? endsBeforeApprovals : undefined
      const { plan, accepted } = planned
      const asked = { plan, accepted, address: cluster.address, user, isOpen: open !== undefined }
      const shown = sanitiseDeep({ ...asked, approval, restores: vmsText(vms) })
      tellScreen(cx.printer, (paint) => eusQuestionLines(shown, paint))
    },
    ...(sealed && { sealed: sealed.seal.uid, ensureFits: () => ensureEusFits(cx, windowSnapshot, sealed) }),
  })
  const { to } = windowSnapshot.planned.plan
  return ended.report.outcome === 'done' && !isLastWindow(windowSnapshot) ? { ...ended, next: to } : ended
}
