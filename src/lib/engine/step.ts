import type { Reader, Reviewer, Where, Writer } from '../kube/cluster.ts'
import type { Kind } from '../kube/object.ts'
import type { Clock } from '../kube/clock.ts'
import type { Journal, JournalReader, Loan } from './journal.ts'

export type { JournalReader } from './journal.ts'

export interface Progress {
  done: number
  total: number
  /** They are percent of something whose parts take very different times: no pace is taken from them. */
  share?: true
}

/** Where a step stands, read from the cluster and never from memory. */
export type StepState =
  | { is: 'done'; note?: string }
  /** What `apply` would do: for the plan and the dry run. */
  | { is: 'todo'; change: string }
  /** Somebody (an operator, a pod) is at work already. */
  | {
      is: 'waiting'
      on: string
      progress?: Progress
      since?: string
      /** What was found to be in the way already, in a sentence, before it counts as a stall. */
      trouble?: string
      /** Commands that show it or help. */
      remedy?: readonly string[]
    }
  /** Nothing moves any more, and `why` says what was found; goes on waiting until `until` unless it heals. */
  | {
      is: 'stalled'
      on: string
      why: string
      remedy?: readonly string[]
      since?: string
      progress?: Progress
    }
  /** Going on would be wrong: the run ends here with exit 3. */
  | { is: 'blocked'; by: string; reason?: string; remedy?: readonly string[] }

/** The cluster refused the change, or nothing had to be changed any more: the journal says so, and the run goes on. */
export interface NotApplied {
  notApplied: string
}

/** A change in these wakes the runner at once; while a step is waited for they are followed instead of listed again. */
export interface Followed {
  kind: Kind
  where: Where
}

interface Patience {
  /** Poll fallback, ms. */
  every: number
  /** Limit of this step, ms. */
  atMost: number
}

export interface ReadContext {
  readonly reader: Reader
  readonly clock: Clock
  readonly journal: JournalReader
}

/** `writer` already checks the lock before every call. */
export interface StepContext extends ReadContext {
  readonly writer: Writer
  readonly reviewer: Reviewer
  readonly journal: Journal
  readonly signal: AbortSignal
}

export interface Risk {
  /** How to undo it: a command, or `none`. */
  undo: string
  /** For how long it is harmless to stop right after this step. */
  safeToLeave: string
}

export interface Step {
  /** Stable across releases: the key in the journal, the name in --until. */
  readonly id: string
  readonly title: string
  readonly patience: Patience
  readonly follows: readonly Followed[]
  readonly risk: Risk
  /** Expected duration in ms: for plans, ETA and --deadline. */
  readonly estimate: number
  /**
   * Present on steps that may be applied more than once (waves, hops). The runner holds `atMost`, counted per run; how many
   * are under way at a time (`parallel`) is for `check`, which says `waiting` when it is enough.
   */
  readonly repeats?: { atMost: number; parallel: number }
  /** Ids of earlier steps that this one builds on: where one of them would change something, a dry run cannot tell. */
  readonly dependsOn?: readonly string[]
  /** Reads only. `done` ends the step, so this is also what is waited for. */
  check(cx: ReadContext): Promise<StepState>
  /** What is left to do but for time that has to pass first: a rehearsal, in which none passes, asks it instead of `check`. */
  due?(cx: ReadContext): Promise<StepState>
  /** Changes one thing; safe to repeat: after a crash it runs again. Absent on steps that only wait. */
  apply?(cx: StepContext): Promise<NotApplied | void>
  /** Its `apply` ends what an earlier step began: to --deadline it is a wait, and nothing stops before it. */
  readonly closes?: true
  /** Command that shows the object which it changes, and who writes it. */
  readonly shows?: string
  /** The minor of an upgrade path, or the release of an operator, that it belongs to (`v1.7.4`): with each of them the time of the run begins anew. */
  readonly hop?: string
  /** In the live view it is one line together with those beside it that name the same. */
  readonly part?: string
  /** Who undid our change, which was made at `after`, in words, from managedFields; asked only when that happened. See `lastWriter`. */
  blame?(cx: ReadContext, after: Date): Promise<string | undefined>
}

export interface Procedure {
  /** Also the procedure of the journal entries: `upgrade to v1.8.4`. */
  readonly name: string
  /** Where it leads, for its first entry in the journal: `v1.5.2 → v1.6.6 → v1.7.4`. */
  readonly leads?: string
  /** Ids of the loans that its steps give back, whoever opened them. Default: those opened under its own name. */
  readonly loans?: readonly string[]
  /** Open loans of these ids that it does not give back: there is no more to do for them. */
  readonly leaves?: (loan: Loan) => boolean
  /** Under the lock, before anything is written: what has to be known before the first change. Safe to repeat: a failure that passes is tried again. */
  begin?(cx: StepContext): Promise<void>
  /**
   * Changes what must not stay as it is when a run ends early, whatever ends it (a signal too), under the lock still and in less than a second. What it did, in a sentence;
   * undefined where nothing had to be done.
   */
  leaving?(cx: StepContext): Promise<string | undefined>
  /** The goal is reached; with no open loan there is nothing to do: exit 0, no lock, no write. */
  reached(cx: ReadContext): Promise<boolean>
  /** All steps that are known now, for the plan and the live view; more may be found on the way. */
  steps(cx: ReadContext): Promise<readonly Step[]>
}

/** The goal is reached and nothing of it is borrowed: exit 0 before any question, lock or write. */
export async function nothingToDo(procedure: Procedure, cx: ReadContext): Promise<boolean> {
  if (!(await procedure.reached(cx))) return false
  const { name, loans: owed, leaves = () => false } = procedure
  const open = (await cx.journal.loans()).filter((loan) => !leaves(loan))
  return !open.some((loan) => (owed === undefined ? loan.procedure === name : owed.includes(loan.id)))
}

/**
 * A step keeps what it saw (since when it is settled), so of those with one id the first is kept, however often they are listed; but those in `anew`, whose
 * object may be found elsewhere the next time.
 */
export function rememberSteps(
  anew: ReadonlySet<string> = new Set(),
): (steps: readonly Step[]) => readonly Step[] {
  const known = new Map<string, Step>()
  return (steps) =>
    steps.map((step) => {
      if (anew.has(step.id)) return step
      const before = known.get(step.id) ?? step
      known.set(step.id, before)
      return before
    })
}
