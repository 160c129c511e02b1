import { filled } from '../kube/known.ts'
import type { MeasuredProbe } from './availability.ts'
import { type Answered, outcomeOf, type Probe, type ProbeName } from './probes.ts'

/** A time in which a probe got no answer. */
export interface Outage {
  /** RFC 3339. */
  begin: string
  /** RFC 3339; absent: it lasted until the measurement ended. */
  end?: string
  seconds: number
  /** What the first call that failed was told. */
  why: string
  rolling?: readonly string[]
  steps?: readonly string[]
}

/** What a log says of itself. */
export interface OutageFigures {
  unavailableSeconds: number
  longestSeconds: number
  count: number
  /** In their order; of many the longest. */
  outages: readonly Outage[]
}

/** What was going on at a moment. */
export interface Going {
  rolling: readonly string[]
  step?: string | undefined
}

interface LoggedOutage {
  begin: number
  /** Absent: it lasts. */
  end?: number
  why: string
  rolling: Set<string>
  steps: Set<string>
}

/** Outages that are kept one by one; of more the longest stay, and the sums count all. */
const keptAtMost = 50
/** A roll has few components, and a run few steps; what somebody else names so is not kept without an end. */
const namesAtMost = 12
/** Whoever answered may have said a lot. */
const longestWhy = 500

/** The outages of one probe. However many there are, it takes the same room. Times go in as ticks, ms. */
export class OutageLog {
  readonly #closed: (LoggedOutage & { end: number })[] = []
  #open: LoggedOutage | undefined
  #count = 0
  #closedMs = 0
  #longestMs = 0

  get isDown(): boolean {
    return this.#open !== undefined
  }

  /** It is down since `begin`, or still. */
  down(begin: number, why: string, going: Going): void {
    if (this.#open === undefined) {
      this.#count++
      this.#open = { begin, why: why.slice(0, longestWhy), rolling: new Set(), steps: new Set() }
    }
    this.note(going)
  }

  note({ rolling, step }: Going): void {
    if (this.#open === undefined) return
    for (const name of rolling) addTo(this.#open.rolling, name)
    if (step !== undefined) addTo(this.#open.steps, step)
  }

  up(end: number): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    const ms = Math.max(0, end - open.begin)
    this.#closedMs += ms
    this.#longestMs = Math.max(this.#longestMs, ms)
    this.#closed.push({ ...open, end: open.begin + ms })
    if (this.#closed.length <= keptAtMost) return
    const lengths = this.#closed.map((outage) => outage.end - outage.begin)
    this.#closed.splice(lengths.indexOf(Math.min(...lengths)), 1)
  }

  /** All of it until `now`. */
  unavailableMs(now: number): number {
    return this.#closedMs + (this.#open === undefined ? 0 : Math.max(0, now - this.#open.begin))
  }

  /** All of it until `now`; `at` makes a time of ticks. */
  figures(now: number, at: (ticks: number) => string): OutageFigures {
    const openMs = this.#open === undefined ? 0 : now - this.#open.begin
    const shown = ({ begin, end, why, rolling, steps }: LoggedOutage): Outage => ({
      begin: at(begin),
      seconds: inSeconds((end ?? now) - begin),
      why,
      ...(rolling.size > 0 && { rolling: [...rolling].toSorted() }),
      ...(steps.size > 0 && { steps: [...steps] }),
      ...filled({ end: end === undefined ? undefined : at(end) }),
    })
    return {
      unavailableSeconds: inSeconds(this.unavailableMs(now)),
      longestSeconds: inSeconds(Math.max(this.#longestMs, openMs)),
      count: this.#count,
      outages: [...this.#closed, ...(this.#open ? [this.#open] : [])].map(shown),
    }
  }
}

/** To a tenth. */
export const inSeconds = (ms: number): number => Math.round(ms / 100) / 10

function addTo(names: Set<string>, name: string): void {
  if (names.size < namesAtMost) names.add(name)
}

/** A probe, and what came of its calls. */
export class MeasuredCalls {
  readonly probe: Probe
  readonly log = new OutageLog()
  calls = 0
  #ended: { at: number; why: string } | undefined

  constructor(probe: Probe) {
    this.probe = probe
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  /** Asks once. Never rejects. */
  async call(): Promise<Answered> {
    this.calls++
    try {
      await this.probe.ask()
      return { is: 'answered' }
    } catch (error) {
      return outcomeOf(error)
    }
  }

  /** It is not asked any more. `at` in ticks. */
  endWith(at: number, why: string): void {
    this.#ended ??= { at, why }
  }

  report(now: number, at: (ticks: number) => string): MeasuredProbe {
    const { name: probe, what } = this.probe
    return {
      probe,
      what,
      calls: this.calls,
      ...this.log.figures(now, at),
      ...(this.#ended && { ended: { at: at(this.#ended.at), why: this.#ended.why } }),
    }
  }
}

/** The API as a whole: it is down from the first call that failed until every probe that was down answers again. */
export class ApiOutages {
  readonly log = new OutageLog()
  readonly #down = new Set<ProbeName>()
  #upAt = 0

  /** `sent` in ticks: when the call that failed was sent. */
  down(probe: ProbeName, sent: number, why: string, going: Going): void {
    // A call that was under way when the API came back is of the outage before.
    if (this.#down.size === 0 || this.log.isDown)
      this.log.down(Math.max(sent, this.#upAt), `${probe}: ${why}`, going)
    this.#down.add(probe)
  }

  up(probe: ProbeName, at: number): void {
    if (!this.#down.delete(probe) || this.#down.size > 0) return
    this.log.up(at)
    this.#upAt = at
  }
}
