import type { Cluster, Reader, Reviewer, Where, Writer } from '../kube/cluster.ts'
import type { Kind } from '../kube/object.ts'
import type { Clock } from '../kube/clock.ts'
import type {
  JournaledAvailability,
  Journal,
  JournalReader,
  Override,
  RehearsalComparison,
  StepPlace,
} from './journal.ts'
import type { Lock } from './lease.ts'
import { type KvupError, usageError } from '../kube/errors.ts'
import { nearest } from '../kube/text.ts'

export type { JournalReader } from './journal.ts'

export interface Progress {
  done: number
  total: number
  of?: string
  /** They are percent of something whose parts take very different times: no pace is taken from them. */
  share?: true
}

/** Where a step stands, read from the cluster and never from memory. */
export type StepState =
  | { is: 'done'; note?: string }
  | { is: 'todo'; change: string }
  | {
      is: 'waiting'
      on: string
      /** What happens meanwhile, in one phrase that stands alone: `worker-2 restarting, next worker-1`. Absent: it waits for `on`. */
      now?: string
      progress?: Progress
      since?: string
      /** What was found to be in the way already, in a sentence, before it counts as a stall. */
      trouble?: string
      /** Times in which nothing of it is begun, from now on (RFC 3339; without `from`: now): they count for how long it takes, and are no delay. */
      closed?: readonly { from?: string; until: string }[]
      remedy?: readonly string[]
    }
  /** Nothing moves any more, and `why` says what was found; goes on waiting until `until` unless it heals. */
  | {
      is: 'stalled'
      on: string
      why: string
      /** What KubeVirt is then; absent: Stalled, or it is not about KubeVirt. */
      verdict?: 'Degraded'
      remedy?: readonly string[]
      since?: string
      progress?: Progress
    }
  /**
   * Going on would be wrong: the run ends here with exit 3, or 4 for a stall. With the reason `approval-needed` it is a person's turn: `by` is the whole sentence, and the run
   * has not failed.
   */
  | { is: 'blocked'; by: string; reason?: string; isStall?: boolean; remedy?: readonly string[] }

/** The cluster refused the change, or nothing had to be changed any more: the journal says so, and the run goes on. */
export interface NotApplied {
  notApplied: string
}

/** A change in these wakes the runner at once; while a step is waited for they are followed instead of listed again. */
export interface Watched {
  kind: Kind
  where: Where
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

export interface Step {
  /** Stable across releases: the key in the journal, the name in --until. */
  readonly id: string
  readonly title: string
  readonly patience: {
    /** Poll fallback, ms. */
    every: number
    /** Limit of this step, ms. */
    atMost: number
  }
  readonly watches: readonly Watched[]
  readonly risk: {
    /** How to undo it: a command, or `none`. */
    undo: string
    /** For how long it is harmless to stop right after this step. */
    safeToLeave: string
  }
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
  /** What is left to do but for time that has to pass first: a dry run, in which none passes, asks it instead of `check`. */
  due?(cx: ReadContext): Promise<StepState>
  /** Changes one thing; safe to repeat: after a crash it runs again. Absent on steps that only wait. */
  apply?(cx: StepContext): Promise<NotApplied | void>
  /** Its `apply` ends what an earlier step began: to --deadline it is a wait, and nothing stops before it. */
  readonly closes?: true
  /** Its `apply` only hurries what it waits for, and may never be due: to a dry run and to --deadline it is a wait. */
  readonly hurries?: true
  /** Its `apply` only puts right what may come between while it waits: nothing is held before it. */
  readonly guards?: true
  readonly goesOn?: true
  /** Command that shows the object which it changes, and who writes it. */
  readonly shows?: string
  /** The minor of an upgrade path, or the release of an operator, that it belongs to (`v1.7.4`): with each of them the time of the run begins anew. */
  readonly hop?: string
  /** The stage of the live view that it belongs to, together with those beside it that name the same. */
  readonly part?: string
  /** What the live view says of it before its turn: `stable for 30 s`. */
  readonly ahead?: string
  /** What it is doing, for `timed out while …`: `installing CRDs and RBAC`. Absent: it is named by its title. */
  readonly doing?: string
  /** Who undid our change, which was made at `after`, in words, from managedFields; asked only when that happened. See `lastWriter`. */
  blame?(cx: ReadContext, after: Date): Promise<string | undefined>
}

export interface Procedure {
  /** Also the procedure of the journal entries: `upgrade to v1.8.4`. */
  readonly name: string
  /** Where it leads, for its first entry in the journal: `v1.5.2 → v1.6.6 → v1.7.4`. */
  readonly leads?: string
  /** The versions between which it leads, for the history. */
  readonly between?: { readonly from?: string | undefined; readonly to: string }
  /** Ids of the overrides that its steps give back, whoever opened them. Default: those opened under its own name. */
  readonly overrides?: readonly string[]
  /** Open overrides of these ids that it does not give back: there is no more to do for them. */
  readonly leaves?: (override: Override) => boolean
  /** Under the lock, before anything is written: what has to be known before the first change. Safe to repeat: a failure that passes is tried again. */
  begin?(cx: StepContext): Promise<void>
  /**
   * Changes what must not stay as it is when a run ends early, whatever ends it (a signal too), under the lock still and in less than a second. What it did, in a sentence;
   * undefined where nothing had to be done.
   */
  leaving?(cx: StepContext): Promise<string | undefined>
  /** The goal is reached; with no open override there is nothing to do: exit 0, no lock, no write. */
  reached(cx: ReadContext): Promise<boolean>
  /** All steps that are known now, for the plan and the live view; more may be found on the way. */
  steps(cx: ReadContext): Promise<readonly Step[]>
  /** What a run that came to its end did not reach all the same, for its journal: `2 of 5 VMs failed`. Undefined where nothing failed. */
  shortfall?(cx: ReadContext): Promise<string | undefined>
}

/** The goal is reached and nothing of it is borrowed: exit 0 before any question, lock or write. */
export async function nothingToDo(procedure: Procedure, cx: ReadContext): Promise<boolean> {
  if (!(await procedure.reached(cx))) return false
  const { name, overrides: unrestored, leaves = () => false } = procedure
  const open = (await cx.journal.overrides()).filter((override) => !leaves(override))
  return !open.some((override) =>
    unrestored === undefined ? override.procedure === name : unrestored.includes(override.id),
  )
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

/** What a run may touch, and how far it may go. */
export interface RunContext {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly journal: Journal
  readonly lock: Lock
  emit(event: RunEvent): void
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP; its reason is what the run then throws. */
  readonly signal: AbortSignal
  /** user@host, for the journal. */
  readonly who: string
  readonly limits: RunLimits
  /** The uid of the sealed plan that is carried out: written into every entry of the journal. */
  readonly plan?: string | undefined
  /** Risks that were accepted by name, with the words and the API user that the journal keeps beside the beginning of the run. */
  readonly accepted?: readonly { id: string; text: string; user?: string }[]
  /** Compares what the step of this id is about to write, and throws before it is sent: with what a sealed plan says. */
  readonly writes?: ((step: string, writer: Writer) => Writer) | undefined
  readonly measurement?: RunMeasurement | undefined
  readonly foreseen?: ForeseenRun | undefined
  /** The stage that the step of this id is of, as people see them counted; absent, and for a step without one: steps are counted. */
  readonly placeOf?: (step: string) => StepPlace | undefined
}

interface ForeseenRun {
  findings: readonly string[]
  /** From what the run told, and with what became of VMs. */
  rehearsal?:
    | { soFar(): RehearsalComparison; compared(end: { isFinished: boolean }): Promise<RehearsalComparison> }
    | undefined
}

/** What is measured beside a run. It asks the cluster, and changes nothing. */
export interface RunMeasurement {
  /** Before the first write. Throws what cannot be measured at all. */
  begin(): Promise<void>
  hear(event: RunEvent): void
  /** For the journal; undefined where it has not begun. */
  journaled(): JournaledAvailability | undefined
}

export interface RunLimits {
  /** The whole run, waiting for the lock not included; where it goes hop by hop, each of them. */
  timeoutMs: number
  /** A step that is stalled for so long ends the run, ms; absent: it waits on. */
  stalledMs?: number | undefined
  deadline?: Date | undefined
  until?: string | undefined
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
      goesOn?: readonly string[]
      tookMs: number
    }

/** Going on would be wrong. */
export type Blocked = Extract<StepState, { is: 'blocked' }>

/** A step that is not done, and of which nothing is to be changed. */
export type Waiting = Extract<StepState, { is: 'waiting' | 'stalled' }>

/** What happened, for a printer to put into words; `title` is what a person calls the run: `KubeVirt v1.7.4 → v1.8.4 on prod-eu`. `at` is RFC 3339. A new kind does not compile until output words it. */
export type RunEvent =
  | { kind: 'run-started'; at: string; procedure: string; title?: string; steps: readonly StepSummary[] }
  | { kind: 'steps-known'; at: string; steps: readonly StepSummary[] }
  | { kind: 'step-started'; at: string; step: StepSummary; index: number; total: number }
  | { kind: 'step-applied'; at: string; step: StepSummary; change: string }
  | { kind: 'step-waiting'; at: string; step: StepSummary; state: Waiting; until: string }
  | { kind: 'step-done'; at: string; step: StepSummary; changed: boolean; note?: string; tookMs: number }
  | { kind: 'run-finished'; at: string; procedure: string; tookMs: number; shortfall?: string }
  /** Something to know on the way: a migration that failed, a watch that was refused, a 429. */
  | { kind: 'remark'; at: string; text: string }

export interface StepSummary extends Pick<Step, 'id' | 'title' | 'estimate' | 'ahead'> {
  /** The stage that it belongs to, together with those beside it: `Operator`, `platform 4.19`. Only in the lists of steps. */
  part?: string
  /** The minor of an upgrade path that it belongs to: `v1.7.4`. */
  hop?: string
}

/** It sets something going: what closes or hurries that is part of it. */
const isChange = (step: Step): boolean => step.apply !== undefined && !step.closes && !step.hurries

/** Before a step that only waits nothing is held: what it waits for comes all the same. */
export const canBeHeld = (step: Step): boolean => isChange(step) && !step.guards

/** What the cluster goes on with by itself where a run ends before the first of these steps. */
export function goingOn(steps: readonly Step[]): readonly string[] {
  const nextChange = steps.findIndex(canBeHeld)
  const waits = nextChange === -1 ? steps : steps.slice(0, nextChange)
  return waits.filter(({ goesOn }) => goesOn).map(({ id }) => id)
}

/** exit 2: `before` is what --pause-before takes instead. */
export const cannotBeHeld = (id: string, before: string | undefined): KvupError =>
  usageError(
    'step-not-held',
    `${id} cannot be held: ${before === undefined ? 'it changes nothing, and no step before it does' : `--pause-before ${before}`}`,
    {
      remedy:
        'without it, the same line with --dry-run=client -o wide shows which steps can be held; --until takes any',
    },
  )

/**
 * Throws `usage` (exit 2) for a name in --until or --pause-before that no step has, a typo must not run on, and for one in --pause-before of a step that changes nothing.
 */
export function ensureStepsExist({ until, pauseBefore = [] }: RunLimits, steps: readonly Step[]): void {
  const unknown = [...(until === undefined ? [] : [until]), ...pauseBefore].find(
    (id) => !steps.some((step) => step.id === id),
  )
  if (unknown === undefined) {
    const wait = steps.findIndex((step) => pauseBefore.includes(step.id) && !canBeHeld(step))
    if (wait !== -1) throw cannotBeHeld(steps[wait]?.id ?? '', steps.slice(0, wait).findLast(canBeHeld)?.id)
    return
  }
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
  if (limits.deadline === undefined || state.is !== 'todo' || !isChange(step)) return undefined
  return now + costOf(step, steps) > limits.deadline.getTime() ? 'deadline' : undefined
}

/** A step before which the deadline stops a run, as far as the estimates go. */
export interface PastDeadline {
  step: Step
  /** ms that it is expected to take, with what waits for it. */
  takes: number
  /** ms that are left when its turn comes. */
  left: number
  isFirst: boolean
}

/** The first of these steps that the deadline leaves no time for; undefined where all fit. `steps`: those that are left. Pure. */
export function pastDeadline(steps: readonly Step[], deadline: Date, now: number): PastDeadline | undefined {
  let at = now
  let isFirst = true
  for (const step of steps) {
    const changes = isChange(step)
    const takes = costOf(step, steps)
    const left = deadline.getTime() - at
    if (changes && takes > left) return { step, takes, left, isFirst }
    at += step.estimate
    isFirst &&= !changes
  }
  return undefined
}

/** A step together with those right after it that only wait for what it set going, or close it: between them is no safe point. */
function costOf(step: Step, steps: readonly Step[]): number {
  const after = steps.slice(steps.findIndex(({ id }) => id === step.id) + 1)
  const nextChange = after.findIndex(isChange)
  const waits = nextChange === -1 ? after : after.slice(0, nextChange)
  return [step, ...waits].reduce((sum, { estimate }) => sum + estimate, 0)
}

interface Limits {
  /** Poll fallback, ms. */
  every: number
  /** While nothing is wrong, and it only has not come yet, ms. */
  well: number
  /** From when something was seen to be wrong, without a better look in between, ms. */
  wrong: number
}

/** The patience of a step that waits for days where nothing is wrong: a release comes weeks after another one. What is wrong is told sooner, by giving up. */
export class PatienceByHealth {
  readonly every: number
  readonly #limits: Limits
  #began: number | undefined
  #wrongSince: number | undefined

  constructor(limits: Limits) {
    this.every = limits.every
    this.#limits = limits
  }

  /** What a look has shown. `now`: in ticks of the clock, ms. */
  saw(is: 'well' | 'wrong', now: number): void {
    this.#began ??= now
    this.#wrongSince = is === 'well' ? undefined : (this.#wrongSince ?? now)
  }

  get atMost(): number {
    const { well, wrong } = this.#limits
    if (this.#began === undefined || this.#wrongSince === undefined) return well
    return Math.min(well, this.#wrongSince - this.#began + wrong)
  }
}
