import type { Clock } from '../system/clock.ts'
import { clockSkew } from '../system/clock-skew.ts'

/** A `Date` header, and when by the local clock its request went out and its answer began; ms since the epoch. */
export interface HeardDate {
  readonly date: number
  readonly sent: number
  readonly received: number
}

/** The header is cut to whole seconds (RFC 9110, 6.6.1). */
const cutOff = 1000
/** What no judgement depends on, ms: the times that a cluster writes are whole seconds too. */
const harmless = 2000
/** API servers differ by seconds, and a clock that is set right differs by more, ms. Less would make time jump from answer to answer. */
const setMeanwhile = 60_000

/** By how many ms the local clock is ahead, as far as one answer tells: somewhere between these. */
interface Range {
  least: number
  most: number
}

/**
 * The time of the cluster that is talked to. Until it has answered it is the local clock's; from the first answer on, where the two
 * differ by more than two seconds, it is the local clock put right by the difference. Sleeps are the local clock's.
 */
export class ClusterClock implements Clock {
  readonly #local: Clock
  #ahead: number | undefined

  constructor(local: Clock) {
    this.#local = local
  }

  /** ms; 0 where they agree or nobody knows yet. */
  get ahead(): number {
    return this.#ahead ?? 0
  }

  now(): Date {
    return new Date(this.#local.now().getTime() - this.ahead)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#local.sleep(ms, signal)
  }

  /** Takes what one answer said into account. True where it put the clock right: the first did, or the local clock was set since. */
  hear(heard: HeardDate): boolean {
    const before = this.#ahead
    const range = rangeOf(heard)
    const allowed = before === undefined ? harmless : setMeanwhile
    this.#ahead ??= 0
    if (beyond(range, this.#ahead) <= allowed) return false
    this.#ahead = beyond(range, 0) <= harmless ? 0 : Math.round((range.least + range.most) / 2)
    return true
  }
}

/** For `openCluster`: hears every answer, and says it where the clock was put right. */
export function listenerOf(clock: ClusterClock, to: { warn(line: string): void }): (date: HeardDate) => void {
  return (date) => {
    if (clock.hear(date) && clock.ahead !== 0) to.warn(clockSkew(clock.ahead))
  }
}

/** The server wrote it at some time between the sending and the answer, and up to a second after the time that it says. */
function rangeOf({ date, sent, received }: HeardDate): Range {
  return { least: sent - date - cutOff, most: received - date }
}

/** How far a difference lies outside of what can be, ms. */
function beyond({ least, most }: Range, ahead: number): number {
  return Math.max(0, least - ahead, ahead - most)
}
