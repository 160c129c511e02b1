import { setTimeout as delay } from 'node:timers/promises'

/** Time as it is passed in: the wall clock in production, a simulated one in the demo and in tests. */
export interface Clock {
  now(): Date
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

/** Calls back every `ms` until the returned function is called. */
export type Beat = (ms: number, beat: () => void) => () => void

/** Wall-clock time, whatever Clock a run obeys: for redrawing a terminal. Keeps no process alive. */
export const systemBeat: Beat = (ms, beat) => {
  const timer = setInterval(beat, ms)
  timer.unref()
  return () => clearInterval(timer)
}
