import { type Clock, clockSkew, ticks } from '../clock.ts'
import { type Answer, header } from './failure.ts'

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
/** API servers differ by seconds, and clocks that are set right differ by more, ms. Less would make time jump from answer to answer. */
const setMeanwhile = 60_000

/** By how many ms the local clock is ahead, as far as one answer tells: somewhere between these. */
interface Range {
  least: number
  most: number
}

/**
 * The time of the cluster that is talked to, for what a cluster wrote: ages and back-offs. Until it has answered it is the local clock's;
 * from the first answer on, where the two differ by more than two seconds, it is the local clock put right by the difference. From there on
 * it runs by the ticks of this machine, so that neither a server whose clock is set, stands or differs from the other servers' nor
 * somebody who sets this machine's moves it. Limits and spans are the ticks alone. Sleeps are as fast as the cluster's time runs.
 */
export class ClusterClock implements Clock {
  readonly machine: Clock
  /** When we began: by the local clock, and in its ticks. */
  #wall: number
  readonly #tick: number
  #speed = 1
  #ahead: number | undefined

  constructor(local: Clock) {
    this.machine = local
    this.#wall = local.now().getTime()
    this.#tick = ticks(local)
  }

  /** ms; 0 where they agree, nobody knows yet, or they run at different paces. */
  get ahead(): number {
    return this.#speed === 1 ? (this.#ahead ?? 0) : 0
  }

  get speed(): number {
    return this.#speed
  }

  now(): Date {
    return new Date(this.#wall + this.ticks() - (this.#ahead ?? 0))
  }

  ticks(): number {
    return (ticks(this.machine) - this.#tick) * this.#speed
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.machine.sleep(ms / this.#speed, signal)
  }

  /** The time of a simulated cluster runs so many times as fast as any clock outside of it. To be said before it is heard. */
  runAt(speed: number): void {
    this.#speed = speed
  }

  /** Takes what one answer said into account. True where it put the clock right: the first did, or the local clock was set since. */
  hear(heard: HeardDate): boolean {
    const before = this.#ahead
    const drift = this.#drift()
    const wasSet = Math.abs(drift) > setMeanwhile
    if (wasSet) this.#wall += drift
    const shift = wasSet ? 0 : drift
    const range = rangeOf({
      date: heard.date,
      sent: this.#paced(heard.sent - shift),
      received: this.#paced(heard.received - shift),
    })
    const next = beyond(range, 0) <= harmless ? 0 : Math.round((range.least + range.most) / 2)
    if (before === undefined || wasSet) {
      this.#ahead = next
      return beyond(range, before ?? 0) > harmless
    }
    // Where answers contradict each other, the one that is nearer to this machine's clock counts. A simulated pace is followed as it goes.
    const isBetter = this.#speed !== 1 || Math.abs(next) < Math.abs(before)
    if (beyond(range, before) <= setMeanwhile || !isBetter) return false
    this.#ahead = next
    return true
  }

  /** By how many ms the local clock was set since we began, or ran on while this machine was suspended. */
  #drift(): number {
    return this.machine.now().getTime() - this.#wall - (ticks(this.machine) - this.#tick)
  }

  /** The local clock's time, as if it ran that fast since we began. */
  #paced(local: number): number {
    return this.#wall + (local - this.#wall) * this.#speed
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
const beyond = ({ least, most }: Range, ahead: number): number => Math.max(0, least - ahead, ahead - most)

/**
 * The `Date` of an answer (RFC 9110), ms since the epoch. Undefined where there is none, and where it may be somebody else's: an answer
 * out of a cache (`Age`) is of an earlier time, and that of a gateway which could not reach the server (5xx) of its own.
 */
export function saidDate(answer: Pick<Answer, 'status' | 'headers'>): number | undefined {
  const said = header(answer, 'date')
  if (answer.status >= 500 || header(answer, 'age') !== undefined) return undefined
  // Without a zone it would be read as local time.
  const date = said?.endsWith('GMT') ? Date.parse(said) : NaN
  return Number.isNaN(date) ? undefined : date
}
