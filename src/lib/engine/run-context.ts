import type { Cluster, Writer } from '../kube/cluster.ts'
import type { Clock } from '../kube/clock.ts'
import type { Journal } from './journal.ts'
import type { Lock } from './lease.ts'
import { nothingToDo, type Procedure, type ReadContext, type Step, type StepState } from './step.ts'
import { usageError } from '../kube/errors.ts'
import { nearest } from '../kube/text.ts'

/** What a run may touch, and how far it may go. */
export interface RunContext {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly journal: Journal
  readonly lock: Lock
  emit(event: RunEvent): void
  /** Aborted by Ctrl-C and SIGTERM; its reason is what the run then throws. */
  readonly signal: AbortSignal
  /** user@host, for the journal. */
  readonly who: string
  readonly limits: RunLimits
  /** The uid of the sealed plan that is carried out: written into every entry of the journal. */
  readonly plan?: string | undefined
  /** Compares what the step of this id is about to write, and throws before it is sent: with what a sealed plan says. */
  readonly writes?: ((step: string, writer: Writer) => Writer) | undefined
}

export interface RunLimits {
  /** The whole run, waiting for the lock not included; where it goes hop by hop, each of them. */
  timeoutMs: number
  /** No step is started whose estimate passes it. */
  deadline?: Date | undefined
  /** Ends after this step. */
  until?: string | undefined
  /** Ends before any of these, unless it is done already. */
  pauseBefore?: readonly string[] | undefined
}

export type StopReason = 'deadline' | 'until' | 'pause-before'

export type RunOutcome =
  /** The goal was reached already: nothing was locked or written. */
  | { is: 'nothing-to-do' }
  /** Every step is done; `changed` are the ids of those that this run applied. */
  | { is: 'finished'; changed: readonly string[]; tookMs: number }
  | {
      is: 'stopped-before'
      step: StepSummary
      because: StopReason
      changed: readonly string[]
      /** Of the last step that was done: how long it is harmless to stay here. */
      safeToLeave?: string
      tookMs: number
    }

type Waiting = Extract<StepState, { is: 'waiting' | 'stalled' }>

/** What happened, for a printer to put into words. `at` is RFC 3339. A new kind does not compile until output words it. */
export type RunEvent =
  | { kind: 'run-started'; at: string; procedure: string; steps: readonly StepSummary[] }
  /** Steps were found on the way: the whole list again. */
  | { kind: 'steps-known'; at: string; steps: readonly StepSummary[] }
  | { kind: 'step-started'; at: string; step: StepSummary; index: number; total: number }
  | { kind: 'step-applied'; at: string; step: StepSummary; change: string }
  | { kind: 'step-waiting'; at: string; step: StepSummary; state: Waiting; until: string }
  | { kind: 'step-done'; at: string; step: StepSummary; changed: boolean; note?: string; tookMs: number }
  | { kind: 'run-finished'; at: string; procedure: string; tookMs: number }
  /** Something to know on the way: a migration that failed, a watch that was refused, a 429. */
  | { kind: 'remark'; at: string; text: string }

export interface StepSummary extends Pick<Step, 'id' | 'title' | 'estimate'> {
  /** What it is of, together with those beside it: `platform 4.19`. Only in the lists of steps. */
  part?: string
  /** The minor of an upgrade path that it belongs to: `v1.7.4`. */
  hop?: string
}

/** Throws `usage` (exit 2) for a name in --until or --pause-before that no step has: a typo must not run on. */
export function ensureStepsExist({ until, pauseBefore = [] }: RunLimits, steps: readonly Step[]): void {
  const unknown = [...(until === undefined ? [] : [until]), ...pauseBefore].find(
    (id) => !steps.some((step) => step.id === id),
  )
  if (unknown === undefined) return
  const ids = steps.map(({ id }) => id)
  const meant = nearest(unknown.replace(/^step\//u, ''), ids)
  throw usageError('no-such-step', `there is no step "${unknown}"`, {
    remedy: [
      ...(meant === undefined ? [] : [`did you mean ${meant}?`]),
      `the steps are: ${ids.join(', ')}`,
      'without it, the same line with --dry-run=client -o name lists them',
    ],
  })
}

/** The same for a dry run: what the run would refuse before it asks, it refuses as well. Where nothing is to be done there is nothing to refuse. */
export async function ensureStepsMeant(
  limits: RunLimits,
  procedure: Procedure,
  reading: ReadContext,
): Promise<void> {
  const { until, pauseBefore = [] } = limits
  if (until === undefined && pauseBefore.length === 0) return
  if (await nothingToDo(procedure, reading)) return
  ensureStepsExist(limits, await procedure.steps(reading))
}

/** Why this step, which stands at `state`, is not to be begun; undefined when it may, or need not. */
export function reasonToStop(
  step: Step,
  state: StepState,
  { limits, steps, now }: { limits: RunLimits; steps: readonly Step[]; now: number },
): StopReason | undefined {
  if (state.is === 'done') return undefined
  if (limits.pauseBefore?.includes(step.id)) return 'pause-before'
  if (limits.deadline === undefined || state.is !== 'todo' || step.closes) return undefined
  return now + costOf(step, steps) > limits.deadline.getTime() ? 'deadline' : undefined
}

/** A step together with those right after it that only wait for what it set going, or close it: between them is no safe point. */
function costOf(step: Step, steps: readonly Step[]): number {
  const after = steps.slice(steps.findIndex(({ id }) => id === step.id) + 1)
  const nextChange = after.findIndex((next) => next.apply !== undefined && !next.closes)
  const waits = nextChange === -1 ? after : after.slice(0, nextChange)
  return [step, ...waits].reduce((sum, { estimate }) => sum + estimate, 0)
}
