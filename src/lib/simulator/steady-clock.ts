import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../system/clock.ts'

/** How often the wall is looked at, in its ms. */
const tick = 4
/** How far one look moves the time at most, in ms of its own: less than a Lease is renewed in. */
const most = 4000

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/**
 * Runs `speed` times as fast as the wall, but stands still while this process is too busy to look at it: a pause of a tenth of a second
 * would be half a minute of a fast one, in which whoever shares the process with a simulated cluster loses his Lease. Who sleeps is woken
 * in the order of his time.
 */
export class SteadyClock implements Clock {
  readonly #wall: Clock
  readonly #speed: number
  #sleepers: Sleeper[] = []
  #now: number
  #seen: number
  #isRunning = false

  constructor(wall: Clock, speed: number) {
    this.#wall = wall
    this.#speed = speed
    this.#now = wall.now().getTime()
    this.#seen = this.#now
  }

  now(): Date {
    return new Date(this.#now)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const giveUp = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const sleeper = { until: this.#now + Math.max(0, ms), wake }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#add(sleeper)
      void this.#run()
    })
  }

  /** Behind those that wake before it or with it. */
  #add(sleeper: Sleeper): void {
    const place = this.#sleepers.findLastIndex(({ until }) => until <= sleeper.until)
    this.#sleepers.splice(place + 1, 0, sleeper)
  }

  /** For as long as anybody sleeps. */
  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#sleepers.length > 0) {
      await this.#wall.sleep(tick)
      const wall = this.#wall.now().getTime()
      const passed = Math.max(0, wall - this.#seen) * this.#speed
      await this.#passTo(this.#now + Math.min(most, passed))
      this.#seen = wall
    }
    this.#isRunning = false
  }

  async #passTo(end: number): Promise<void> {
    for (let next = this.#sleepers[0]; next && next.until <= end; next = this.#sleepers[0]) {
      this.#sleepers.shift()
      this.#now = Math.max(this.#now, next.until)
      next.wake()
      if ((this.#sleepers[0]?.until ?? Infinity) > this.#now) await turn()
    }
    this.#now = Math.max(this.#now, end)
  }
}
