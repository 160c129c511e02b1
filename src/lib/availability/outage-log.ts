/** A time in which a probe got no answer. */
export interface Outage {
  /** RFC 3339. */
  begin: string
  /** RFC 3339; absent: it lasted until the measurement ended. */
  end?: string
  seconds: number
  /** What the first call that failed was told. */
  why: string
  /** Components that were rolling meanwhile. */
  rolling?: readonly string[]
  /** Steps of the run that were under way meanwhile. */
  steps?: readonly string[]
}

/** What a log says of itself. */
export interface OutageFigures {
  unavailableSeconds: number
  longestSeconds: number
  /** How many there were. */
  count: number
  /** In their order; of many the longest. */
  outages: readonly Outage[]
}

/** What was going on at a moment. */
export interface Going {
  rolling: readonly string[]
  step?: string | undefined
}

/** In ticks, until it is told. */
interface OpenOutage {
  begin: number
  why: string
  rolling: Set<string>
  steps: Set<string>
}

interface ClosedOutage extends OpenOutage {
  end: number
}

/** Outages that are kept one by one; of more the longest stay, and the sums count all. */
const keptAtMost = 50
/** A roll has few components, and a run few steps; what somebody else names so is not kept without an end. */
const namesAtMost = 12
/** Whoever answered may have said a lot. */
const longestWhy = 500

/** The outages of one probe. However many there are, it takes the same room. Times go in as ticks, ms. */
export class OutageLog {
  readonly #closed: ClosedOutage[] = []
  #open: OpenOutage | undefined
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

  /** What goes on while it is down. */
  note({ rolling, step }: Going): void {
    if (this.#open === undefined) return
    for (const name of rolling) addTo(this.#open.rolling, name)
    if (step !== undefined) addTo(this.#open.steps, step)
  }

  /** It answers again since `end`. */
  up(end: number): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    const ms = Math.max(0, end - open.begin)
    this.#closedMs += ms
    this.#longestMs = Math.max(this.#longestMs, ms)
    this.#closed.push({ ...open, end: open.begin + ms })
    if (this.#closed.length > keptAtMost) this.#closed.splice(shortestOf(this.#closed), 1)
  }

  /** All of it until `now`. */
  unavailableMs(now: number): number {
    return this.#closedMs + (this.#open === undefined ? 0 : Math.max(0, now - this.#open.begin))
  }

  /** All of it until `now`; `at` makes a time of ticks. */
  figures(now: number, at: (ticks: number) => string): OutageFigures {
    return {
      unavailableSeconds: inSeconds(this.unavailableMs(now)),
      longestSeconds: inSeconds(
        Math.max(this.#longestMs, this.#open === undefined ? 0 : now - this.#open.begin),
      ),
      count: this.#count,
      outages: this.#outages(now, at),
    }
  }

  #outages(now: number, at: (ticks: number) => string): readonly Outage[] {
    const closed = this.#closed.map((outage) => ({
      ...toldOutage(outage, outage.end - outage.begin, at),
      end: at(outage.end),
    }))
    return this.#open === undefined ? closed : [...closed, toldOutage(this.#open, now - this.#open.begin, at)]
  }
}

function toldOutage(
  { begin, why, rolling, steps }: OpenOutage,
  ms: number,
  at: (ticks: number) => string,
): Outage {
  return {
    begin: at(begin),
    seconds: inSeconds(ms),
    why,
    ...(rolling.size > 0 && { rolling: [...rolling].toSorted() }),
    ...(steps.size > 0 && { steps: [...steps] }),
  }
}

/** To a tenth. */
export const inSeconds = (ms: number): number => Math.round(ms / 100) / 10

function addTo(names: Set<string>, name: string): void {
  if (names.size < namesAtMost) names.add(name)
}

function shortestOf(outages: readonly ClosedOutage[]): number {
  const lengths = outages.map(({ begin, end }) => end - begin)
  return lengths.indexOf(Math.min(...lengths))
}
