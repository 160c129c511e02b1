import type { RunEvent } from '../../engine/step.ts'
import { type Beat, type Clock, ownClock, ownTicks, ticks } from '../../kube/clock.ts'
import { BusySign } from './busy-sign.ts'
import { frameInterval, LiveRegion, LiveView } from './live-view.ts'
import { exitCode, KvupError } from '../../kube/errors.ts'
import { errorLines, remedyLines } from '../error-text.ts'
import {
  type Environment,
  inLocale,
  isLive,
  printedLine,
  sanitise,
  sanitiseLine,
  type Stream,
} from '../terminal.ts'
import type { Paint } from '../printer.ts'
import { cut, paintedWidth, wrap } from '../text.ts'
import { timeOfDay } from '../age.ts'
import { spanText } from '../../kube/duration.ts'
import { progressAfter, progressOf, type RunProgress } from './run-progress.ts'
import { heartbeatWording, type Wording, wordingOf } from './progress-words.ts'

interface Telling {
  stream: Stream
  clock: Clock
  paint: Paint
  env: Environment
  verbosity: number
  /** Steps by their names, and not only stages. */
  verbose: boolean
  beat: Beat
  /** With `-o ndjson` events are told on stdout instead. */
  eventsElsewhere: boolean
}

/** The live view as the process sees it; each is nothing where there is none. */
export interface LiveTerminal {
  /** SIGTSTP: the terminal belongs to the shell until `resume`. */
  suspend: () => void
  /** SIGCONT. */
  resume: () => void
  /** Exit of any kind: the cursor comes back. Safe to call at any time and again. */
  release: () => void
}

/** What happens on the way, on stderr: live on a terminal, plain lines elsewhere. */
export interface Story {
  event: (event: RunEvent) => void
  note: (line: string) => void
  warn: (line: string) => void
  /** From now on that is waited for, until the next word; shown on a terminal alone, after a second. */
  awaiting: (what: string) => void
  /** Runs a write to the other stream, which may be the same terminal, without tearing the live view. */
  aside: (write: () => void) => void
  end: (error?: unknown) => void
  readonly live: LiveTerminal
}

export function tellStory(telling: Telling): Story {
  const { stream, paint } = telling
  const columns = () => (stream.isTTY === true ? (stream.columns?.() ?? 80) : Infinity)
  const writeLine = (line: string) =>
    wrap(inLocale(line, paint), columns()).forEach((part) => stream.write(`${printedLine(part)}\n`))
  const { busy, view, told } = tellers(telling, writeLine)
  const stop = telling.beat(frameInterval, () => {
    busy?.tick()
    told.tick()
  })
  const above = (write: () => void) => {
    busy?.stop()
    if (view) view.above(write)
    else write()
  }
  const note = (text: string) => above(() => writeLine(sanitise(text)))
  return {
    event(event) {
      if (telling.eventsElsewhere) return
      busy?.stop()
      if (view && event.kind === 'remark') note(event.text)
      else told.event(event)
    },
    note,
    awaiting: (what) => busy?.awaiting(what),
    warn: once((text) => above(() => writeLine(`${paint.warn('warning:')} ${sanitiseLine(text)}`))),
    aside: above,
    end(error) {
      stop()
      busy?.stop()
      view?.close(error !== undefined && !isInterruption(error))
      if (error === undefined) return
      const { verbosity } = telling
      const rows = stream.isTTY === true ? stream.rows?.() : undefined
      errorLines(error, paint, { verbosity, columns: columns(), rows }).forEach(writeLine)
    },
    live: liveTerminal(busy, view),
  }
}

/** Somebody ended it, and what is under way goes on: nothing failed. */
const isInterruption = (error: unknown): boolean =>
  error instanceof KvupError &&
  (error.exitCode === exitCode.interrupted || error.exitCode === exitCode.terminated)

function tellers(
  { stream, clock, paint, env, eventsElsewhere, verbose }: Telling,
  writeLine: (line: string) => void,
) {
  const canMove = isLive(stream, env)
  const busy = canMove ? new BusySign(stream, paint) : undefined
  const view = canMove && !eventsElsewhere ? new LiveView(stream, clock, paint, verbose) : undefined
  return { busy, view, told: view ?? plainLines(writeLine, clock, paint, verbose) }
}

function once(say: (text: string) => void): (text: string) => void {
  const said = new Set<string>()
  return (text) => {
    if (!said.has(text)) say(text)
    said.add(text)
  }
}

function liveTerminal(busy: BusySign | undefined, view: LiveView | undefined): LiveTerminal {
  const silence = (then: (() => void) | undefined) => () => {
    busy?.stop()
    then?.()
  }
  return {
    suspend: silence(() => view?.suspend()),
    resume: () => view?.resume(),
    release: silence(() => view?.release()),
  }
}

/** A run on a pipe: `HH:MM:SS text`, only on change, and a heartbeat when nothing was said for 30 s. */
interface PlainLines {
  event(event: RunEvent): void
  /** To be called now and then; speaks only when a heartbeat is due. */
  tick(): void
}

const heartbeat = 30_000
/** `9 s`, `3m12s`, `4 restarts`, `and 2 more`: what grows while everything stays as it is. */
const growing = /\b(?:(?:\d+ ?[dhms]\b ?)+|(?:\d+ ?[dhms])+|\d+ of \d+ s|\d+ (?:restarts?|more))\b/g

/** A text that is the same for as long as nothing changes. */
export const withoutSpans = (text: string): string => text.replace(growing, '')

export function plainLines(
  write: (line: string) => void,
  clock: Clock,
  paint: Paint,
  verbose = false,
): PlainLines {
  let run: RunProgress = progressOf([])
  let printedAt = ownTicks(clock)
  const of = verbose ? 'steps' : 'stages'
  const said = new Map<string, string>()

  const speak = (at: Date | string, { text, tone, remedy = [] }: Omit<Wording, 'about'>) => {
    printedAt = ownTicks(clock)
    const line = sanitiseLine(text)
    write(`${timeOfDay(at)} ${tone === undefined ? line : paint[tone](line)}`)
    for (const help of remedyLines(remedy, paint)) write(`       ${help}`)
  }
  const tick = () => {
    const now = clock.now()
    if (ownTicks(clock) - printedAt < heartbeat) return
    const wording = heartbeatWording(run, now, of)
    if (wording !== undefined) speak(now, wording)
  }
  return {
    tick,
    event(event) {
      run = progressAfter(run, event)
      const wording = wordingOf(event, run, of)
      const gist = wording && gistOf(event, wording)
      if (wording === undefined || said.get(wording.about) === gist) {
        tick()
        return
      }
      said.set(wording.about, gist ?? '')
      speak(event.at, wording)
    },
  }
}

/** Where something is counted, the count is the change, and each pod on the way to it is none: the heartbeat names those that stay. */
function gistOf(event: RunEvent, { text }: Wording): string {
  const { state } = event.kind === 'step-waiting' ? event : {}
  if (state?.progress === undefined) return withoutSpans(text)
  const why = state.is === 'stalled' ? state.why : state.trouble
  return `${state.is} ${state.progress.done}/${state.progress.total} ${withoutSpans(why ?? '')}`
}

/** What a page shows in so many columns. */
export type PageLines = (columns: number) => readonly string[]

/** What is older is said to be old: whoever watches reads again every 15 s at the latest. */
const oldAfter = 30_000

/** The clock of a page, and how old what stands on it is. */
export class PageHeading {
  readonly #clock: Clock
  readonly #paint: Paint
  readonly beat: Beat
  #readAt: number

  constructor({ clock, paint, beat }: Pick<Telling, 'clock' | 'paint' | 'beat'>) {
    this.#clock = ownClock(clock)
    this.#paint = paint
    this.beat = beat
    this.#readAt = ticks(this.#clock)
  }

  /** What stands on the page is of now. */
  read(): void {
    this.#readAt = ticks(this.#clock)
  }

  line(columns: number): string {
    const now = this.#clock.now()
    const age = ticks(this.#clock) - this.#readAt
    const isOld = age >= oldAfter
    const read = new Date(now.getTime() - age)
    const text = isOld
      ? `${timeOfDay(now)}  OLD: read ${spanText(age)} ago, at ${timeOfDay(read)}`
      : `${timeOfDay(now)}  read ${spanText(age)} ago`
    return this.#paint[isOld ? 'warn' : 'dim'](cut(text, columns))
  }
}

/** With `-w` on a terminal: each answer takes the place of the one before, and is drawn anew when the terminal's size changes. */
export class LivePage {
  readonly #stream: Stream
  readonly #heading: PageHeading | undefined
  readonly #stopTicking: (() => void) | undefined
  readonly #region: LiveRegion
  readonly #endResize: (() => void) | undefined
  #pending = ''
  #page: PageLines | undefined

  /** With a heading it is drawn anew each second, changed or not. */
  constructor(stream: Stream, heading?: PageHeading) {
    this.#stream = stream
    this.#heading = heading
    this.#stopTicking = heading?.beat(1000, () => this.resume())
    const collected: Stream = {
      write: (text) => void (this.#pending += text),
      columns: () => stream.columns?.(),
    }
    this.#region = new LiveRegion(collected)
    this.#endResize = stream.onResize?.(() => this.resume())
  }

  /** What was just read of the cluster. */
  show(page: PageLines): void {
    this.#page = page
    this.#heading?.read()
    this.resume()
  }

  /** Writes something to the same terminal: it stays above the page. */
  above(write: () => void): void {
    this.suspend()
    write()
    this.resume()
  }

  /** For SIGTSTP: the terminal belongs to the shell until `resume`. */
  suspend(): void {
    this.#region.clear()
    this.#flush()
  }

  resume(): void {
    if (this.#page === undefined) return
    // A line that the terminal broke is taken away whole before another one is written.
    this.#region.clear()
    // The last column stays free: some terminals wrap as soon as it is written.
    const columns = Math.max(1, (this.#stream.columns?.() ?? 80) - 1)
    const heading = this.#heading === undefined ? [] : [this.#heading.line(columns)]
    const lines = [...heading, ...this.#page(columns)]
    this.#region.draw(fitted(lines, columns, (this.#stream.rows?.() ?? 24) - 1))
    this.#flush()
  }

  /** Leaves what is drawn for good and gives the cursor back, however the process ends. */
  release(): void {
    this.#page = undefined
    this.#stopTicking?.()
    this.#endResize?.()
    this.#region.release()
    this.#flush()
  }

  #flush(): void {
    if (this.#pending !== '') this.#stream.write(this.#pending)
    this.#pending = ''
  }
}

/** Only what stays on the screen can be drawn again: its end is left out where it is higher, and that is said. */
function fitted(lines: readonly string[], columns: number, rows: number): readonly string[] {
  const heights = lines.map((line) => Math.max(1, Math.ceil(paintedWidth(line) / columns)))
  if (heights.reduce((sum, height) => sum + height, 0) <= rows) return lines
  let left = rows - 1
  const kept = heights.findIndex((height) => (left -= height) < 0)
  return [...lines.slice(0, kept), `(${lines.length - kept} more lines)`.slice(0, columns)].slice(
    0,
    Math.max(1, rows),
  )
}

/** The story on the terminal that a page is drawn on: what is said stands above it, and the error below it. */
export function pageLines(story: Story, page: LivePage | undefined): Story {
  if (page === undefined) return story
  const both = (what: keyof Story['live']) => () => {
    story.live[what]()
    page[what]()
  }
  return {
    ...story,
    note: (line) => page.above(() => story.note(line)),
    awaiting: () => undefined,
    warn: (line) => page.above(() => story.warn(line)),
    end(error) {
      page.release()
      story.end(error)
    },
    live: { suspend: both('suspend'), resume: both('resume'), release: both('release') },
  }
}
