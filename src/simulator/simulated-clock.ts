import type { Clock } from '../lib/kube/clock.ts'
import { nextTick } from 'node:process'
import { setImmediate as turn } from 'node:timers/promises'

/** A clock on which somebody can be woken without a promise and a signal. */
interface AlarmClock extends Clock {
  /** Calls back after so many ms, unless what it returns is called before. */
  after(ms: number, wake: () => void): () => void
}

const isAlarmClock = (clock: Clock): clock is AlarmClock => 'after' in clock

const nothing = (): void => undefined

/** Why a sleep was given up; a DOMException for each, with its stack, was 4 % of a simulation. */
const enoughSlept = new Error('cancelled')

/** Calls back after so many ms of any clock, unless what it returns is called before. */
export function wakeAfter(clock: Clock, ms: number, wake: () => void): () => void {
  if (isAlarmClock(clock)) return clock.after(ms, wake)
  const enough = new AbortController()
  void clock.sleep(ms, enough.signal).then(wake, nothing)
  return () => enough.abort(enoughSlept)
}

interface Sleeper {
  /** In ms since the epoch. */
  readonly at: number
  /** Counts sleepers: of those that wake at the same time the first comes first. */
  readonly turn: number
  /** It gave up, or was woken. */
  gone: boolean
  wake: () => void
  readonly signal: AbortSignal | undefined
  /** Rejects with the reason of the signal. */
  readonly giveUp: () => void
  /** Where it went on sleeping on another clock: takes it off that. */
  leave?: () => void
}

const isBefore = (a: Sleeper, b: Sleeper): boolean => a.at < b.at || (a.at === b.at && a.turn < b.turn)

/** Sleepers in a heap: to find the next one costs the logarithm of how many there are. Who gave up is left in it until it comes up, or until they are the most. */
class SleeperQueue {
  #heap: Sleeper[] = []
  #gone = 0
  #turns = 0

  get size(): number {
    return this.#heap.length - this.#gone
  }

  add(at: number, wake: () => void, signal?: AbortSignal, giveUp = nothing): Sleeper {
    const sleeper: Sleeper = { at, turn: this.#turns++, gone: false, wake, signal, giveUp }
    let place = this.#heap.push(sleeper) - 1
    while (place > 0 && this.#swap((place - 1) >> 1, place)) place = (place - 1) >> 1
    return sleeper
  }

  sleep(at: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        if (sleeper) this.forget(sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const sleeper = signal?.aborted ? undefined : this.add(at, wake, signal, giveUp)
      if (sleeper) signal?.addEventListener('abort', giveUp, { once: true })
      else giveUp()
    })
  }

  forget(sleeper: Sleeper): void {
    if (sleeper.gone) return
    sleeper.gone = true
    this.#gone++
    // In their order they are a heap.
    if (this.#gone > 64 && this.#gone > this.#heap.length / 2) this.#heap = this.takeAll()
  }

  /** When the next one wakes, in ms since the epoch; `Infinity` where nobody sleeps. */
  get next(): number {
    for (let [first] = this.#heap; first?.gone; [first] = this.#heap) {
      this.#takeFirst()
      this.#gone--
    }
    return this.#heap[0]?.at ?? Infinity
  }

  /** The one that wakes next, if that is not after `end`. */
  take(end = Infinity): Sleeper | undefined {
    if (this.size === 0 || this.next > end) return undefined
    const next = this.#takeFirst()
    if (next) next.gone = true
    return next
  }

  /** All of them, in the order in which they wake. */
  takeAll(): Sleeper[] {
    const all = this.#heap.filter(({ gone }) => !gone)
    this.#heap = []
    this.#gone = 0
    return all.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  }

  #takeFirst(): Sleeper | undefined {
    const [first] = this.#heap
    const last = this.#heap.pop()
    if (last === undefined || last === first) return first
    this.#heap[0] = last
    for (let at = 0, below = 0; ; at = below) {
      const [left, right] = [this.#heap[2 * at + 1], this.#heap[2 * at + 2]]
      below = left && right && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1
      if (!this.#swap(at, below)) return first
    }
  }

  /** Unless they are in order. */
  #swap(above: number, below: number): boolean {
    const [a, b] = [this.#heap[above], this.#heap[below]]
    if (a === undefined || b === undefined || isBefore(a, b)) return false
    this.#heap[above] = b
    this.#heap[below] = a
    return true
  }
}

/** Calls back once everybody who can go on at this moment has done so. */
type Turn = (then: () => void) => void

/** So often somebody from outside gets a word in: a signal, a timer of the wall. */
const hearing = 256

/**
 * For a world that is in this process as a whole, where nobody waits for anything but the clock and promises: a turn ends when no promise is left that goes
 * on, and only every 256th is one of the event loop. Those were a tenth of a simulation.
 */
export function promiseTurns(): Turn {
  let turns = 0
  return (then) => {
    if (++turns % hearing === 0) setImmediate(then)
    else queueMicrotask(() => nextTick(then))
  }
}

/** How many turns of the event loop nothing may have happened before time moves on. */
const quietTurns = 3

/**
 * Time that passes only when everybody sleeps: one queue of sleepers, the earliest is woken when no work is in
 * flight. An hour of waiting costs milliseconds and every run is the same.
 */
export class SimClock implements AlarmClock {
  #now: number
  readonly #turn: Turn
  readonly #sleepers = new SleeperQueue()
  #inFlight = 0
  #activity = 0
  #pumping = false

  constructor(start = '2026-01-01T00:00:00Z', afterTurn: Turn = setImmediate) {
    this.#now = Date.parse(start)
    this.#turn = afterTurn
  }

  now(): Date {
    return new Date(this.#now)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.#activity++
    const slept = this.#sleepers.sleep(this.#now + Math.max(0, ms), signal)
    this.#pump()
    return slept
  }

  after(ms: number, wake: () => void): () => void {
    this.#activity++
    const sleeper = this.#sleepers.add(this.#now + Math.max(0, ms), wake)
    this.#pump()
    return () => {
      this.#sleepers.forget(sleeper)
      sleeper.wake = nothing
      // A timer of the wall that nobody waits for would keep the process alive.
      sleeper.leave?.()
    }
  }

  /** Whoever sleeps here goes on sleeping there, for what is left after `end`, ms since the epoch. */
  handOver(clock: Clock, end: number): void {
    for (const sleeper of this.#sleepers.takeAll()) {
      sleeper.gone = true
      const { at, signal, giveUp } = sleeper
      const left = Math.max(0, at - end)
      if (signal === undefined) sleeper.leave = wakeAfter(clock, left, () => sleeper.wake())
      else void clock.sleep(left, signal).then(() => sleeper.wake(), giveUp)
    }
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
    if (this.#pumping || this.#sleepers.size === 0) return
    this.#pumping = true
    this.#whenQuiet(this.#activity, quietTurns)
  }

  #whenQuiet(observed: number, turns: number): void {
    this.#turn(() => {
      if (this.#inFlight > 0) {
        this.#pumping = false
        return
      }
      if (observed !== this.#activity) this.#whenQuiet(this.#activity, quietTurns)
      else if (turns > 1) this.#whenQuiet(observed, turns - 1)
      else this.#advance()
    })
  }

  #advance(): void {
    this.#pumping = false
    const next = this.#sleepers.take()
    if (next === undefined) return
    this.#now = Math.max(this.#now, next.at)
    this.#activity++
    next.wake()
    this.#pump()
  }
}

/**
 * A clock that runs through a given time at once, ending at the given clock's now, and from then on is the given
 * clock: whoever sleeps at the hand-over goes on sleeping for what was left.
 */
export class FastForward implements AlarmClock {
  readonly #clock: Clock
  readonly #early: SimClock
  #arrived = false
  readonly #end: number

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#end = clock.now().getTime()
    this.#early = new SimClock(new Date(this.#end - ms).toISOString(), promiseTurns())
  }

  now(): Date {
    return this.#arrived ? this.#clock.now() : this.#early.now()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return (this.#arrived ? this.#clock : this.#early).sleep(ms, signal)
  }

  after(ms: number, wake: () => void): () => void {
    return wakeAfter(this.#arrived ? this.#clock : this.#early, ms, wake)
  }

  /** Lets the whole time pass, then hands over. */
  async arrive(): Promise<void> {
    await this.#early.sleep(Math.max(0, this.#end - this.#early.now().getTime()))
    this.#arrived = true
    this.#early.handOver(this.#clock, this.#end)
  }
}

/** The wall clock, `speed` times as fast: an update of a minute is watched in six seconds at 10. */
export function scaledClock(wall: Clock, speed: number): Clock {
  const start = wall.now().getTime()
  return {
    now: () => new Date(start + (wall.now().getTime() - start) * speed),
    sleep: (ms, signal) => wall.sleep(ms / speed, signal),
  }
}

/** How often the wall is looked at, in its ms. */
const tick = 4
/** How far one look moves the time at most, in ms of its own: less than a Lease is renewed in. */
const most = 4000

/**
 * Runs `speed` times as fast as the wall, but stands still while this process is too busy to look at it: a pause of a tenth of a second
 * would be half a minute of a fast one, in which whoever shares the process with a simulated cluster loses his Lease. Who sleeps is woken
 * in the order of his time.
 */
export class SteadyClock implements Clock {
  readonly #wall: Clock
  readonly #speed: number
  readonly #sleepers = new SleeperQueue()
  #now: number
  #observed: number
  #isRunning = false

  constructor(wall: Clock, speed: number) {
    this.#wall = wall
    this.#speed = speed
    this.#now = wall.now().getTime()
    this.#observed = this.#now
  }

  now(): Date {
    return new Date(this.#now)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const slept = this.#sleepers.sleep(this.#now + Math.max(0, ms), signal)
    void this.#run()
    return slept
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#sleepers.size > 0) {
      await this.#wall.sleep(tick)
      const wall = this.#wall.now().getTime()
      const passed = Math.max(0, wall - this.#observed) * this.#speed
      await this.#passTo(this.#now + Math.min(most, passed))
      this.#observed = wall
    }
    this.#isRunning = false
  }

  async #passTo(end: number): Promise<void> {
    for (let next = this.#sleepers.take(end); next; next = this.#sleepers.take(end)) {
      this.#now = Math.max(this.#now, next.at)
      next.wake()
      if (this.#sleepers.next > this.#now) await turn()
    }
    this.#now = Math.max(this.#now, end)
  }
}
