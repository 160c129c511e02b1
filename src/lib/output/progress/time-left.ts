import { timeOfDay } from '../age.ts'
import type { RunProgress, StepLine } from './run-progress.ts'

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

/** How far a run is by the estimates of its steps, in percent; 100 only once it is finished. */
export function percentDone(run: RunProgress, at: Date): number {
  if (run.finishedAt !== undefined && run.steps.every(({ shape }) => shape === 'done')) return 100
  const whole = run.steps.reduce((sum, { estimate }) => sum + estimate, 0)
  const done = run.steps.reduce((sum, step) => sum + step.estimate * shareDone(step, at), 0)
  return whole === 0 ? 0 : Math.min(99, Math.floor((100 * done) / whole))
}

function shareDone(step: StepLine, at: Date): number {
  if (step.shape === 'done') return 1
  if (step.shape === 'todo') return 0
  const { progress } = step
  if (progress && progress.total > 0) return progress.done / progress.total
  // What is not counted is never taken for done.
  return step.estimate === 0 ? 0 : Math.min(0.9, spentOn(step, at) / step.estimate)
}

/**
 * `4–6 min left` from the pace at which the step at work was seen to move and from how the finished ones compared with their
 * estimates; `under 10 min left` while nothing was seen yet; `overdue since 08:09:10` when it takes much longer than that.
 * Undefined when nothing can be said, as of a stall.
 */
export function timeLeft(run: RunProgress, at: Date): string | undefined {
  const open = run.steps.filter(({ shape }) => shape !== 'done')
  if (run.finishedAt !== undefined || open.length === 0) return undefined
  if (open.some(({ shape }) => shape === 'failed')) return undefined
  if (open.some(({ shape }) => shape === 'stalled')) return undefined
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

type Closed = NonNullable<Extract<State, { is: 'waiting' }>['closed']>[number]
type State = NonNullable<RunProgress['waiting']>['state']

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

const roundMinutes = [1, 2, 5, 10, 15, 20, 30, 45, 60, 90]

/** The next round number: more would be a precision that is not there. */
function vaguely(high: number): string {
  const most = roundMinutes.find((minutes) => high <= minutes * minute)
  return most === undefined ? `under ${Math.ceil(high / (60 * minute))} h left` : `under ${most} min left`
}
