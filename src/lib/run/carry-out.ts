import type { Access, Cluster } from '../cluster/cluster.ts'
import type { Finding } from '../checks/finding.ts'
import type { Prompt } from '../output/printer.ts'
import type { RunEvent } from '../procedure/events.ts'
import type { Journal } from '../procedure/journal.ts'
import type { KnowsLoans } from '../procedure/known-loans.ts'
import type { Lock } from '../procedure/lock.ts'
import { nothingToDo } from '../procedure/nothing-to-do.ts'
import { ensureRights } from '../procedure/preflight.ts'
import type { RunContext, RunLimits, RunOutcome } from '../procedure/run-context.ts'
import { runProcedure } from '../procedure/run.ts'
import type { Procedure, ReadContext } from '../procedure/step.ts'
import { ensureStepsExist } from '../procedure/stopping.ts'
import type { Clock } from '../system/clock.ts'
import { blocked } from '../system/errors.ts'
import type { AcceptedRisk } from '../checks/report.ts'
import { type Accepting, passGate } from './gate.ts'

/** What is to be done, and what stands against it. */
export interface Work {
  procedure: Procedure
  findings: readonly Finding[]
  accepted: readonly AcceptedRisk[]
  /** Where `--accept` is not for this command line: a sealed plan says which risks are taken. */
  accepting?: Accepting
  rights: { required: readonly Access[]; optional: readonly Access[]; role: string }
  question: string
  limits: RunLimits
  /** The cluster is still the one that the plan was made for; throws `drifted` otherwise. Asked before the question, after it, and once the lock is ours. */
  ensureFits?(): Promise<void>
  /** After the answer and before the lock: what may only happen once a person agreed (a download, a saved file). */
  prepare?(): Promise<void>
}

/** The world as a changing command needs it. */
export interface Hands {
  cluster: Cluster
  clock: Clock
  journal: Journal & Partial<KnowsLoans>
  lock: Lock
  prompt: Prompt
  signal: AbortSignal
  who: string
  emit(event: RunEvent): void
  warn(line: string): void
  /** Shown between the gate and the question: what will be done. */
  announce(): void
  /** The uid of the sealed plan that is carried out. */
  plan?: string | undefined
  /** Compares what a step writes with that plan. */
  writes?: RunContext['writes']
}

/**
 * The way that every changing command goes: nothing to do? → does the plan fit → rights → findings → question → preparation → lock and
 * run. Throws `drifted` (5), `forbidden` (7) before the first write, `blocked` for a finding or a no (3), and what `runProcedure` throws.
 */
export async function carryOut(work: Work, hands: Hands): Promise<RunOutcome> {
  const { cluster, clock, journal, signal } = hands
  const reading: ReadContext = { reader: cluster.reader, clock, journal }
  if (await nothingToDo(work.procedure, reading)) return { is: 'nothing-to-do' }
  if (namesSteps(work.limits)) ensureStepsExist(work.limits, await work.procedure.steps(reading))
  await work.ensureFits?.()
  const missing = await ensureRights(cluster.reviewer, work.rights)
  passGate(work.findings, work.accepted, work.accepting)
  for (const warning of missing) hands.warn(warning)
  hands.announce()
  if (!(await hands.prompt.confirm(work.question))) throw blocked('answered-no', 'nothing was changed')
  await work.ensureFits?.()
  await work.prepare?.()
  signal.throwIfAborted()
  return runProcedure(work.procedure, { ...hands, lock: fitting(hands.lock, work), limits: work.limits })
}

/** Whoever had the lock before us may have left another cluster than the one that was looked at. */
const fitting = (lock: Lock, work: Work): Lock => ({
  hold: (run, queueing) =>
    lock.hold(async (held) => {
      await work.ensureFits?.()
      return run(held)
    }, queueing),
})

/** Asked before the question: nobody agrees to a run that then does not know its own step. */
function namesSteps({ until, pauseBefore = [] }: RunLimits): boolean {
  return until !== undefined || pauseBefore.length > 0
}
