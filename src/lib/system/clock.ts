import { setTimeout as delay } from 'node:timers/promises'

/** Time as it is passed in: the wall clock in production, a simulated one in the demo and in tests. */
export interface Clock {
  now(): Date
  /** By how many ms this machine's own clock is ahead of `now`; negative: behind. Absent: it is the same, or not asked. */
  readonly ahead?: number
  /**
   * This machine's own, where `now` is a cluster's: that may be put right in the middle, or run at another pace (a demo). For what happens between programs: a lock, a
   * farewell. Absent: it is this one.
   */
  readonly machine?: Clock
  /** How many times as fast `now` runs as this machine's own clock. Absent: once. */
  readonly speed?: number
  /** Rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
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

/** This machine's own time, ms since the epoch: for a span that begins before the cluster has said its time. */
export const ownTime = (clock: Clock): number => ownClock(clock).now().getTime()

/** Calls back every `ms` until the returned function is called. */
export type Beat = (ms: number, beat: () => void) => () => void

/** Wall-clock time, whatever Clock a run obeys: for redrawing a terminal. Keeps no process alive. */
export const systemBeat: Beat = (ms, beat) => {
  const timer = setInterval(beat, ms)
  timer.unref()
  return () => clearInterval(timer)
}
