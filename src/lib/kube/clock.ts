import { setTimeout as delay } from 'node:timers/promises'
import { spanText } from './duration.ts'

/** In ms: `5 * minutes`. */
export const seconds = 1000
export const minutes = 60 * seconds
export const hours = 60 * minutes

/** Time as it is passed in: the wall clock in production, a simulated one in the demo and in tests. */
export interface Clock {
  now(): Date
  /**
   * ms since nobody says when, as fast as `now`: for every limit, and for how long something took. Neither what a server says nor who sets
   * this machine's clock moves it. Absent: `now` is never set (a simulated clock). Asked by `ticks`.
   */
  ticks?(): number
  /** By how many ms this machine's own clock is ahead of `now`; negative: behind. Absent: it is the same, or not asked. */
  readonly ahead?: number
  /**
   * This machine's own, where `now` is a cluster's: that may be put right in the middle, or run at another pace (a demo). For what happens between programs: a lock, a
   * farewell. Absent: it is this one.
   */
  readonly machine?: Clock
  /** The same clock, where this one only counts `ticks` otherwise: what is kept by clock is kept by that one. Absent: it is this one. */
  readonly base?: Clock
  /** How many times as fast `now` runs as this machine's own clock. Absent: once. */
  readonly speed?: number
  /** Rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal ? { signal } : {})
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
}

/** Never put right by what a cluster says, and never faster than the wall. */
export const ownClock = (clock: Clock): Clock => clock.machine ?? clock

/** ms, for spans: see `Clock.ticks`. */
export const ticks = (clock: Clock): number => clock.ticks?.() ?? clock.now().getTime()

/** ms by this machine's own pace, for a span that begins before a simulated cluster has said how fast its time runs. */
export const ownTicks = (clock: Clock): number => ticks(ownClock(clock))

/** Calls back every `ms` until the returned function is called. */
export type Beat = (ms: number, beat: () => void) => () => void

/** Wall-clock time, whatever Clock a run obeys: for redrawing a terminal. Keeps no process alive. */
export const systemBeat: Beat = (ms, beat) => {
  const timer = setInterval(beat, ms)
  timer.unref()
  return () => clearInterval(timer)
}

/** In words, for the ms by which this machine's clock is ahead of the cluster's; negative is behind. */
export function clockSkew(ahead: number): string {
  const by = Math.abs(ahead)
  // It is known to a second at best.
  const unit = by < 10 * minutes ? 1 * seconds : 1 * minutes
  const rounded = Math.round(by / unit) * unit
  return `the clock of this computer is ${spanText(rounded)} ${ahead > 0 ? 'ahead of' : 'behind'} the cluster's: kvup shows the cluster's times`
}
