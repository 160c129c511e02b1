import type { Clock } from '../system/clock.ts'
import { SimClock } from './clock.ts'

/**
 * A clock that runs through a given time at once, ending at the given clock's now, and from then on is the given
 * clock: whoever sleeps at the hand-over goes on sleeping for what was left.
 */
export class FastForward implements Clock {
  readonly #clock: Clock
  readonly #early: SimClock
  #arrived = false
  readonly #end: number

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#end = clock.now().getTime()
    this.#early = new SimClock(new Date(this.#end - ms).toISOString())
  }

  now(): Date {
    return this.#arrived ? this.#clock.now() : this.#early.now()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return (this.#arrived ? this.#clock : this.#early).sleep(ms, signal)
  }

  /** Lets the whole time pass, then hands over. */
  async arrive(): Promise<void> {
    await this.#early.sleep(Math.max(0, this.#end - this.#early.now().getTime()))
    this.#arrived = true
    this.#early.handOver(this.#clock, this.#end)
  }
}
