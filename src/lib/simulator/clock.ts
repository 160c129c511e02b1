import type { Clock } from '../system/clock.ts'

interface Sleeper {
  at: number
  wake: () => void
  /** Rejects with the reason of the signal. */
  giveUp: () => void
  signal: AbortSignal | undefined
}

/** How many turns of the event loop nothing may have happened before time moves on. */
const quietTurns = 3

/**
 * Time that passes only when everybody sleeps: one queue of sleepers, the earliest is woken when no work is in
 * flight. An hour of waiting costs milliseconds and every run is the same.
 */
export class SimClock implements Clock {
  #now: number
  #sleepers: Sleeper[] = []
  #inFlight = 0
  #activity = 0
  #pumping = false

  constructor(start = '2026-01-01T00:00:00Z') {
    this.#now = Date.parse(start)
  }

  now(): Date {
    return new Date(this.#now)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.#activity++
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const giveUp = () => {
        this.#sleepers = this.#sleepers.filter((s) => s !== sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const sleeper: Sleeper = { at: this.#now + Math.max(0, ms), wake, giveUp, signal }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#sleepers.push(sleeper)
      this.#pump()
    })
  }

  /** Whoever sleeps here goes on sleeping there, for what is left after `end`, ms since the epoch. */
  handOver(clock: Clock, end: number): void {
    const sleepers = this.#sleepers
    this.#sleepers = []
    for (const { at, signal, wake, giveUp } of sleepers)
      void clock.sleep(Math.max(0, at - end), signal).then(wake, giveUp)
  }

  /** Time stands still while this is under way: a request, a file, a child process. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#inFlight++
    try {
      return await work
    } finally {
      this.#inFlight--
      this.#activity++
      this.#pump()
    }
  }

  #pump(): void {
    if (this.#pumping || this.#sleepers.length === 0) return
    this.#pumping = true
    this.#whenQuiet(this.#activity, quietTurns)
  }

  #whenQuiet(seen: number, turns: number): void {
    setImmediate(() => {
      if (this.#inFlight > 0) {
        this.#pumping = false
        return
      }
      if (seen !== this.#activity) this.#whenQuiet(this.#activity, quietTurns)
      else if (turns > 1) this.#whenQuiet(seen, turns - 1)
      else this.#advance()
    })
  }

  #advance(): void {
    this.#pumping = false
    const next = this.#sleepers.reduce<Sleeper | undefined>(
      (a, b) => (a === undefined || b.at < a.at ? b : a),
      undefined,
    )
    if (next === undefined) return
    this.#now = Math.max(this.#now, next.at)
    this.#sleepers = this.#sleepers.filter((s) => s !== next)
    this.#activity++
    next.wake()
    this.#pump()
  }
}
