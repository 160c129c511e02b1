import type { Context } from '../../../context.ts'
import type { Access } from '../../../lib/cluster/cluster.ts'
import type { Finding } from '../../../lib/checks/finding.ts'
import { type EusReportDocument, eusReportView } from '../../../lib/output/views/eus-report.ts'
import { nothingToDo } from '../../../lib/procedure/nothing-to-do.ts'
import type { RunLimits, RunOutcome } from '../../../lib/procedure/run-context.ts'
import type { Procedure } from '../../../lib/procedure/step.ts'
import { withParts } from '../../../lib/eus/status/parts-of-steps.ts'
import { leftAsItIs } from '../../../lib/eus/status/left-as-it-is.ts'
import { ensureStepsExist } from '../../../lib/procedure/stopping.ts'
import { carryOut } from '../../../lib/run/carry-out.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { type DryRun, rehearsed } from '../../workloads/dry-run.ts'
import type { SeenWindow } from '../see-window.ts'
import type { Seen } from '../../../lib/workloads/census-changes.ts'
import { RunCensus } from '../../../lib/workloads/run-census.ts'
import { lostSince } from '../../lost-since.ts'
import { observeWindow, type ObservedWindow } from './observe.ts'
import { reportOfWindow } from './report.ts'
import { windowRights } from './rights.ts'
import { withWindowLines } from './way-on.ts'

/** What differs between running a window, aborting it and giving its settings back. */
export interface WindowWork {
  procedure: Procedure
  findings: readonly Finding[]
  question: string
  limits: RunLimits
  dryRun: DryRun | undefined
  /** What a run that came to its end is called. */
  end: 'done' | 'aborted' | 'given-back'
  /** Shown before the question. */
  announce: () => void
  /** Rights that this work needs besides those of a window. */
  alsoNeeds?: readonly Access[]
  ensureFits?: () => Promise<void>
  /** The uid of the sealed plan that is carried out. */
  sealed?: string
}

/** Rehearses or carries it out, and prints the report. */
export async function carryOutWindow(cx: Context, seen: SeenWindow, work: WindowWork): Promise<ExitCode> {
  const { report, code } = await workOnWindow(cx, seen, work)
  cx.printer.result(report, eusReportView)
  return endOf(report, code)
}

/** Its exit code; throws `lost` (9) where VMs or volumes are, and nothing else is told by a code of its own. */
export function endOf(report: EusReportDocument, code: ExitCode): ExitCode {
  const { to, outcome } = report
  const failure = code === exitCode.done ? lostSince(report, doneText(to, outcome)) : undefined
  if (failure) throw failure
  return code
}

const doneText = (to: string, outcome: EusReportDocument['outcome']): string =>
  outcome === 'done' ? `platform and virtualization are at ${to}` : 'it came to its end'

/** The same without a word of its end, for who goes on. */
export async function workOnWindow(
  cx: Context,
  seen: SeenWindow,
  work: WindowWork,
): Promise<{ report: EusReportDocument; code: ExitCode }> {
  const { procedure, dryRun } = work
  if (dryRun !== undefined && dryRun !== 'none') await ensureMeant(cx, seen, work)
  const dry = await rehearsed(cx, procedure, { hands: seen.hands, dryRun })
  if (dry) {
    const { steps } = dry
    const end = { outcome: 'rehearsed', dryRun: dry.dryRun, steps: [], rehearsed: steps } as const
    return { report: await reportOfWindow(cx, seen, end), code: exitCode.done }
  }
  const census = new RunCensus({
    namespace: seen.installation.namespace,
    kubevirt: seen.window.kubevirt.uid,
    who: cx.world.who,
    warn: (line) => seen.hands.warn(line),
    eachRun: true,
  })
  const { name } = seen.window
  const observed = observeWindow(seen.cluster, seen.hands.journal, { name, census, evicted: evictedBy(seen) })
  try {
    const outcome = await run(cx, seen, {
      work: { ...work, procedure: census.around(procedure) },
      observed,
      census,
    })
    const report = await ended(cx, seen, { work, observed, outcome })
    await census.close(seen.cluster, seen.hands.lock, outcome.is === 'finished' ? 'over' : 'open')
    const late = outcome.is === 'stopped-before' && outcome.because === 'deadline'
    return { report, code: late ? exitCode.timedOut : exitCode.done }
  } finally {
    census.leave()
  }
}

/** Nodes are drained here: who asks for no migration goes down with them. Where outages were accepted by name, all may. */
const evictedBy = ({ planned: { accepted } }: SeenWindow): Seen['evicted'] =>
  accepted.some(({ id }) => id === 'vm-outages') ? 'everybody' : 'drained'

/** What a run would refuse before it asks, a dry run of it refuses as well; where nothing is to be done there is nothing to refuse. */
async function ensureMeant(
  { clock }: Context,
  { cluster, hands }: SeenWindow,
  { procedure, limits, ensureFits }: WindowWork,
): Promise<void> {
  const reading = { reader: cluster.reader, clock, journal: hands.journal }
  if (await nothingToDo(procedure, reading)) return
  ensureStepsExist(limits, await procedure.steps(reading))
  await ensureFits?.()
}

interface Running {
  work: WindowWork
  observed: ObservedWindow
  census: RunCensus
}

function run(cx: Context, seen: SeenWindow, { work, observed, census }: Running): Promise<RunOutcome> {
  const { procedure, findings, question, limits, announce, ensureFits, sealed, alsoNeeds = [] } = work
  const rights = windowRights(seen)
  return withWindowLines(cx, seen, (began) =>
    carryOut(
      {
        procedure,
        findings,
        accepted: seen.planned.accepted,
        rights: { ...rights, required: [...rights.required, ...alsoNeeds] },
        question,
        limits,
        async prepare() {
          await census.prepare(seen.cluster.reviewer)
          await observed.before()
        },
        ...(ensureFits && { ensureFits }),
      },
      {
        ...seen.hands,
        emit(event) {
          if (event.kind === 'run-started') began()
          observed.event(event)
          cx.printer.event(withParts(event))
        },
        announce,
        plan: sealed,
      },
    ),
  )
}

async function ended(
  cx: Context,
  seen: SeenWindow,
  { work, observed, outcome }: Omit<Running, 'census'> & { outcome: RunOutcome },
): Promise<EusReportDocument> {
  if (outcome.is === 'nothing-to-do') {
    const notes = work.end === 'done' || seen.open !== undefined ? [] : ['no window is open']
    return reportOfWindow(cx, seen, { outcome: 'nothing-to-do', steps: [], notes })
  }
  const seconds = Math.round(outcome.tookMs / 1000)
  const after = await observed.after()
  const common = { steps: observed.steps, seconds, ...after }
  if (outcome.is === 'finished') {
    const notes = work.end === 'given-back' ? [] : await leftOver(seen)
    return reportOfWindow(cx, seen, { outcome: work.end, ...common, notes })
  }
  const { step, because, safeToLeave } = outcome
  const stoppedBefore = { step: step.id, because, ...(safeToLeave !== undefined && { safeToLeave }) }
  return reportOfWindow(cx, seen, { outcome: 'stopped-before', ...common, stoppedBefore })
}

/** Nobody waits for these any more: it is said that they are so. */
async function leftOver({ cluster, window }: SeenWindow): Promise<readonly string[]> {
  try {
    return await leftAsItIs(cluster.reader, window.kubevirt)
  } catch (error) {
    if (error instanceof KvupError) return [`what is paused still could not be read: ${error.message}`]
    throw error
  }
}
