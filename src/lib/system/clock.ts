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
