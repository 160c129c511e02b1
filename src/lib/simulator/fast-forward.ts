import type { Clock } from '../system/clock.ts'
import { SimClock } from './clock.ts'

/**
 * A clock that runs through a given time at once, ending at the given clock's now, and from then on is the given
 * clock: whoever sleeps at the hand-over goes on sleeping for what was left.
 */
export class FastForward implements Clock {
  readonly #clock: Clock
  readonly #early: SimClock
  readonly #handover = new AbortController()
  readonly #end: number

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#end = clock.now().getTime()
    this.#early = new SimClock(new Date(this.#end - ms).toISOString())
  }

  now(): Date {
    return this.#handover.signal.aborted ? this.#clock.now() : this.#early.now()
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const handover = this.#handover.signal
    if (handover.aborted) return this.#clock.sleep(ms, signal)
    const until = this.#early.now().getTime() + ms
    try {
      return await this.#early.sleep(ms, signal ? AbortSignal.any([signal, handover]) : handover)
    } catch {
      signal?.throwIfAborted()
      return this.#clock.sleep(Math.max(0, until - this.#end), signal)
    }
  }

  /** Lets the whole time pass, then hands over. */
  async arrive(): Promise<void> {
    await this.#early.sleep(Math.max(0, this.#end - this.#early.now().getTime()))
    this.#handover.abort()
  }
}
