import type { Progress, RunEvent, StepSummary } from '../../engine/step.ts'
import { brief, count } from '../text.ts'
import { duration, timeAfter, timeOfDay } from '../age.ts'
import type { Tone } from '../printer.ts'

type Waiting = Extract<RunEvent, { kind: 'step-waiting' }>

export type StepShape = 'todo' | 'running' | 'stalled' | 'done' | 'failed'

/** One step as the live view knows it. */
export interface StepLine {
  id: string
  title: string
  /** See `StepSummary`. */
  part?: string
  /** ms */
  estimate: number
  shape: StepShape
  /** What it did or found: shown beside the title. */
  note?: string
  progress?: Progress
  /** When what is waited for began, which may be before we looked. */
  since?: string
  /** The count that was seen first, and when: its pace is measured from there. */
  begunAt?: { done: number; at: string }
  /** When its count last went up. */
  movedAt?: string
  startedAt?: string
  stalledAt?: string
  tookMs?: number
  /** It was waited for: that it is done now is no longer `already so`. */
  waited?: true
  /** In that nothing of it could be begun, for all windows were closed; ms of its `tookMs`. */
  closedMs?: number
}

/** What of a run is worth showing, reduced from its events. */
export interface RunProgress {
  procedure: string
  startedAt?: string
  steps: readonly StepLine[]
  waiting?: Pick<Waiting, 'state' | 'until'> & { step: string; began: string }
  finishedAt?: string
}

const nothing: RunProgress = { procedure: '', steps: [] }

type Reducers = {
  [K in RunEvent['kind']]: (run: RunProgress, event: Extract<RunEvent, { kind: K }>) => RunProgress
}

const reducers: Reducers = {
  'run-started': (_, { procedure, at, steps }) => ({ procedure, startedAt: at, steps: merged([], steps) }),
  'steps-known': (run, { steps }) => ({ ...run, steps: merged(run.steps, steps) }),
  'step-started': (run, { step, at }) => quiet(withStep(run, step, { shape: 'running', startedAt: at })),
  'step-applied': (run, { step, change }) => withStep(run, step, { shape: 'running', note: change }),
  'step-waiting': afterWaiting,
  'step-done': (run, { step, note, changed, tookMs }) => {
    const moved = changed || tookMs >= 1000 || waitedFor(run, step)
    return quiet(withStep(run, step, { shape: 'done', note: note ?? (moved ? '' : 'already so'), tookMs }))
  },
  'run-finished': (run, { at }) => quiet({ ...run, finishedAt: at }),
  remark: (run) => run,
}

/** The run after one more event. */
export function progressAfter<E extends RunEvent>(run: RunProgress, event: E): RunProgress {
  return (reducers[event.kind] as (run: RunProgress, event: E) => RunProgress)(run, event)
}

/** Where a run stands after these events. */
export function progressOf(events: readonly RunEvent[]): RunProgress {
  return events.reduce<RunProgress>(progressAfter, nothing)
}

/** The run as it is left when it ends with an error: the step at work failed, nothing is waited for. */
export function progressFailed(run: RunProgress, at: string): RunProgress {
  const steps = run.steps.map((step) =>
    step.shape === 'running' || step.shape === 'stalled' ? { ...step, shape: 'failed' as const } : step,
  )
  return quiet({ ...run, steps, finishedAt: at })
}

function afterWaiting(run: RunProgress, { step, state, until, at }: Waiting): RunProgress {
  const goesOn = run.waiting?.step === step.id && run.waiting.state.is === state.is
  const began = goesOn && run.waiting !== undefined ? run.waiting.began : at
  const change: Partial<StepLine> = {
    waited: true,
    ...(state.since !== undefined && { since: state.since }),
    ...(state.progress !== undefined && counted(run, { id: step.id, progress: state.progress, at })),
    ...closedNow(run, { id: step.id, state, at }),
    ...(state.is === 'stalled'
      ? { shape: 'stalled', stalledAt: state.since ?? began }
      : { shape: 'running' }),
  }
  return { ...withStep(run, step, change), waiting: { state, until, step: step.id, began } }
}

/** While windows are closed no time passes for it: it counts, and is measured, from when the next one opens. */
function closedNow(
  { steps }: RunProgress,
  { id, state, at }: { id: string; state: Waiting['state']; at: string },
): Partial<StepLine> {
  const closed = state.is === 'waiting' ? state.closed : undefined
  const until = closed?.find(({ from }) => from === undefined)?.until
  const line = steps.find((step) => step.id === id)
  if (until === undefined || line?.startedAt === undefined || line.startedAt === until) return {}
  const { progress = line.progress } = state
  return {
    startedAt: until,
    closedMs: (line.closedMs ?? 0) + Math.max(0, Date.parse(until) - Date.parse(at)),
    ...(progress && { begunAt: { done: progress.done, at: until }, movedAt: until }),
  }
}

type Closed = NonNullable<Extract<Waiting['state'], { is: 'waiting' }>['closed']>[number]

/** How long so much work takes from `at` on where none is begun while it is closed; ms. */
function overClosed(closed: readonly Closed[], at: number, work: number): number {
  let now = at
  let left = work
  for (const { from, until } of closed) {
    const closes = from === undefined ? now : Math.max(now, Date.parse(from))
    const opens = Date.parse(until)
    if (opens <= now) continue
    if (now + left <= closes) break
    left -= closes - now
    now = opens
  }
  return now + left - at
}

/** A count that goes down, or another total, is another roll: it is measured anew. */
function counted(
  { steps }: RunProgress,
  { id, progress, at }: { id: string; progress: Progress; at: string },
): Partial<StepLine> {
  const before = steps.find((step) => step.id === id)
  const { done, total } = before?.progress ?? { done: 0, total: 0 }
  const goesOn = before?.begunAt !== undefined && total === progress.total && done <= progress.done
  if (!goesOn) return { progress, begunAt: { done: progress.done, at }, movedAt: at }
  return done < progress.done ? { progress, movedAt: at } : { progress }
}

/** True where it was waited for on the way to `done`. */
export function waitedFor({ steps }: RunProgress, { id }: Pick<StepSummary, 'id'>): boolean {
  return steps.some((step) => step.id === id && step.waited === true)
}

function quiet(run: RunProgress): RunProgress {
  const { waiting: _, ...rest } = run
  return rest
}

/** The steps as they are known now; what is done stays where it was, whether it is still among them or not. */
function merged(known: readonly StepLine[], steps: readonly StepSummary[]): StepLine[] {
  const ahead = steps.flatMap((step) => {
    const line = known.find(({ id }) => id === step.id) ?? lineOf(step)
    return line.shape === 'done' ? [] : [{ ...line, ...partOf(step) }]
  })
  return known.reduce((all, line, index) => {
    if (line.shape !== 'done') return all
    const before = new Set(known.slice(0, index).map(({ id }) => id))
    return all.toSpliced(all.findLastIndex(({ id }) => before.has(id)) + 1, 0, line)
  }, ahead)
}

function lineOf({ id, title, estimate }: StepSummary): StepLine {
  return { id, title, estimate, shape: 'todo' }
}

/** Of steps in between it may be known only later. */
const partOf = ({ part }: StepSummary): Pick<StepLine, 'part'> => (part === undefined ? {} : { part })

function withStep(run: RunProgress, step: StepSummary, change: Partial<StepLine>): RunProgress {
  const at = run.steps.findIndex(({ id }) => id === step.id)
  const line = { ...(run.steps[at] ?? lineOf(step)), ...change }
  return { ...run, steps: at < 0 ? [...run.steps, line] : run.steps.with(at, line) }
}

/** What is said of an event: nothing, or a line and how much it matters. */
export interface Wording {
  text: string
  tone?: Tone
  /** Commands that help, below it. */
  remedy?: readonly string[]
}

type Words = { [K in RunEvent['kind']]: (event: Extract<RunEvent, { kind: K }>) => Wording | undefined }

/** The mapped type makes a new kind of event a compile error here. */
const words: Words = {
  'run-started': ({ procedure, steps }) => ({
    text: `${procedure}: ${count(steps.length, 'step')}`,
    tone: 'strong',
  }),
  // Each is named when it begins.
  'steps-known': () => undefined,
  // What it does or waits for is said by the events that follow at once.
  'step-started': () => undefined,
  'step-applied': ({ step, change }) => ({ text: `${step.title}: ${change}` }),
  'step-waiting': (event) => waitingChange(event),
  'step-done': ({ step, changed, note, tookMs }) => ({
    text: `${step.title}: ${note ?? (changed || tookMs >= 1000 ? 'done' : 'already so')}${tookMs >= 1000 ? `, took ${duration(tookMs)}` : ''}`,
    tone: 'good',
  }),
  'run-finished': ({ procedure, tookMs }) => ({
    text: `${procedure}: finished in ${duration(tookMs)}`,
    tone: 'good',
  }),
  remark: ({ text }) => ({ text: `note: ${text}`, tone: 'warn' }),
}

/** The line for one event, without time and colour; undefined where a pipe has nothing to gain from it. */
export function wordingOf<E extends RunEvent>(event: E): Wording | undefined {
  return (words[event.kind] as (event: E) => Wording | undefined)(event)
}

function waitingChange({ step, state }: Waiting): Wording {
  const { progress: observed } = state
  // What tells a share says it in its own words.
  const progress = observed === undefined || observed.share ? '' : `${observed.done}/${observed.total}, `
  const trouble = state.is === 'waiting' && state.trouble !== undefined ? `; ${brief(state.trouble)}` : ''
  const text = `${step.title}: ${progress}${objectOf(state)}${trouble}`
  if (state.is === 'waiting') return { text }
  return {
    text: `${text}: ${brief(state.why)}`,
    tone: 'bad',
    ...(state.remedy && { remedy: state.remedy }),
  }
}

function objectOf({ is, on }: Waiting['state']): string {
  return is === 'stalled' ? `stalled on ${on}` : `waiting for ${on}`
}

/** What is waited for, and since when and until when: `waiting for node-14` and `for 9s`, `until 08:10:02`. */
export function waitingWords(
  { state, until }: Pick<Waiting, 'state' | 'until'>,
  at: Date,
  began?: string,
): { what: string; how: string[] } {
  const since = state.since ?? began
  const so = since === undefined ? [] : [`for ${duration(at.getTime() - Date.parse(since))}`]
  return {
    what: objectOf(state),
    how: [...so, `until ${timeAfter(until, at)}`],
  }
}

/** The same in one sentence, with what stands in the way. */
export function waitingSentence(event: Pick<Waiting, 'state' | 'until'>, at: Date, began?: string): string {
  const { what, how } = waitingWords(event, at, began)
  const { state } = event
  const why = state.is === 'stalled' ? state.why : state.trouble
  return [what, ...(why === undefined ? [] : [brief(why)]), ...how].join(', ')
}

const minute = 60_000

/** Fewer increments than this are luck, not a rate. */
const fewest = 2
/** Times the usual until an increment, or a whole step, is overdue; never before so many ms. */
const overdueAfter = { increments: 4, estimates: 3, atLeast: 2 * minute }

/** Of what is left: seen at its pace in this run, or only estimated; ms. */
interface Left {
  observed: number
  guessed: number
}

/** So much of what is left is taken for as good as certain to go as estimated: the pace of a few short steps says little of hours. */
const asEstimated = 0.1

/**
 * `4–6 min left` from the pace at which the step at work was seen to move and from how the finished ones compared with their
 * estimates; `under 10 min left` while nothing was seen yet; `overdue since 08:09:10` when it takes much longer than that, and
 * `stalled since …`. Undefined when nothing can be said.
 */
export function timeLeft(run: RunProgress, at: Date): string | undefined {
  const open = run.steps.filter(({ shape }) => shape !== 'done')
  if (run.finishedAt !== undefined || open.length === 0) return undefined
  if (open.some(({ shape }) => shape === 'failed')) return undefined
  const stalled = open.find(({ shape }) => shape === 'stalled')
  if (stalled) return stalled.stalledAt && `stalled since ${timeOfDay(stalled.stalledAt)}`
  const lefts = open.map((step) => stepLeft(step, at))
  const pace = paceOf(run.steps, asEstimated * guessedIn(lefts))
  const late = open.map((step) => overdueSince(step, pace ?? 1, at)).find((since) => since !== undefined)
  if (late !== undefined) return `overdue since ${timeOfDay(new Date(late))}`
  if (open.some((step) => isSlow(step, pace ?? 1, at))) return 'taking longer than expected'
  const { state } = run.waiting ?? {}
  return inWords(lefts, pace, (work) =>
    overClosed((state?.is === 'waiting' && state.closed) || [], at.getTime(), work),
  )
}

const guessedIn = (lefts: readonly Left[]): number => lefts.reduce((sum, { guessed }) => sum + guessed, 0)

/** `whole`: with the times in which nothing is begun. */
function inWords(lefts: readonly Left[], pace: number | undefined, whole: (work: number) => number): string {
  const observed = lefts.reduce((sum, left) => sum + left.observed, 0)
  const guessed = guessedIn(lefts)
  const low = whole(0.8 * (observed + guessed * Math.min(1, pace ?? 1 / 3)))
  const high = whole(1.2 * (observed + guessed * Math.max(1, pace ?? 1.5)))
  const isGuess = pace === undefined && observed < guessed
  return isGuess ? vaguely(high) : range(low, high)
}

function stepLeft(step: StepLine, at: Date): Left {
  const { done, total } = step.progress ?? { done: 0, total: 0 }
  const rate = rateOf(step)
  if (rate !== undefined && step.movedAt !== undefined) {
    const waited = Math.min(rate, at.getTime() - Date.parse(step.movedAt))
    return { observed: Math.max(0, rate * (total - done) - waited), guessed: 0 }
  }
  const share = total > 0 ? (total - done) / total : 1
  if (step.progress?.share)
    return { observed: 0, guessed: share * (share * step.estimate + sinceBegun(step, at)) }
  const guessed = Math.max(step.estimate * share - spentOn(step, at), step.estimate * 0.1)
  return { observed: 0, guessed }
}

/** The further it is the more what it took until now says of the rest. */
function sinceBegun({ since, startedAt }: StepLine, at: Date): number {
  const began = since ?? startedAt
  return began === undefined ? 0 : Math.max(0, at.getTime() - Date.parse(began))
}

/** ms per item, from what moved while we looked: what was done before says nothing of its pace. */
function rateOf({ progress, begunAt, movedAt }: StepLine): number | undefined {
  if (progress === undefined || progress.share || begunAt === undefined || movedAt === undefined)
    return undefined
  const moved = progress.done - begunAt.done
  return moved < fewest ? undefined : (Date.parse(movedAt) - Date.parse(begunAt.at)) / moved
}

function overdueSince(step: StepLine, pace: number, at: Date): number | undefined {
  if (step.startedAt === undefined) return undefined
  const rate = rateOf(step)
  const [from, usual, times] =
    rate !== undefined && step.movedAt !== undefined
      ? [Date.parse(step.movedAt), rate, overdueAfter.increments]
      : [
          Date.parse(step.movedAt ?? step.startedAt),
          step.estimate * Math.max(1, pace),
          overdueAfter.estimates,
        ]
  const patience = Math.max(usual * times, overdueAfter.atLeast)
  // Since when it is said: until then a time was left.
  return at.getTime() - from > patience ? from + patience : undefined
}

/** It has used up what it was estimated at, with half as much again: the same time left said again and again would be no news. */
function isSlow(step: StepLine, pace: number, at: Date): boolean {
  if (step.startedAt === undefined || step.progress !== undefined) return false
  return spentOn(step, at) > Math.max(1.5 * step.estimate * Math.max(1, pace), minute)
}

function spentOn({ startedAt }: StepLine, at: Date): number {
  return startedAt === undefined ? 0 : Math.max(0, at.getTime() - Date.parse(startedAt))
}

const atWorkOn = ({ tookMs = 0, closedMs = 0 }: StepLine): number => Math.max(0, tookMs - closedMs)

/** Real over estimated time of the steps that took any, and of so many ms that take as long as estimated; between a third and three, undefined where none did. */
function paceOf(steps: readonly StepLine[], prior: number): number | undefined {
  const timed = steps.filter((step) => step.shape === 'done' && atWorkOn(step) > 1000 && step.estimate > 0)
  const estimated = timed.reduce((sum, { estimate }) => sum + estimate, 0)
  if (estimated === 0) return undefined
  const real = timed.reduce((sum, step) => sum + atWorkOn(step), 0)
  return Math.min(3, Math.max(1 / 3, (real + prior) / (estimated + prior)))
}

function range(low: number, high: number): string {
  if (high < minute) return 'under 1 min left'
  if (high >= 120 * minute) return inHours(low, high)
  const [from, to] = [Math.max(1, Math.floor(low / minute)), Math.ceil(high / minute)]
  if (to >= 5 && to > 3 * from) return vaguely(high)
  return from === to ? `${to} min left` : `${from}–${to} min left`
}

function inHours(low: number, high: number): string {
  const [from, to] = [Math.floor(low / (60 * minute)), Math.ceil(high / (60 * minute))]
  return from === 0 ? `under ${to} h left` : `${from}–${to} h left`
}

const steps = [1, 2, 5, 10, 15, 20, 30, 45, 60, 90]

/** The next round number: more would be a precision that is not there. */
function vaguely(high: number): string {
  const most = steps.find((minutes) => high <= minutes * minute)
  return most === undefined ? `under ${Math.ceil(high / (60 * minute))} h left` : `under ${most} min left`
}
