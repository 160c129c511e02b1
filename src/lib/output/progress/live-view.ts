import { brief, cut, displayWidth, pad, paintedWidth, pieces, wrap } from '../text.ts'
import { inLocale, sanitiseLine, type Stream } from '../terminal.ts'
import type { RunEvent } from '../../engine/step.ts'
import type { Clock } from '../../kube/clock.ts'
import type { Paint, Tone } from '../printer.ts'
import {
  progressAfter,
  progressFailed,
  progressOf,
  type RunProgress,
  type StepLine,
  type StepShape,
  timeLeft,
  waitingWords,
} from './run-progress.ts'
import { duration } from '../age.ts'
import type { Ora } from 'ora'

const escape = '\u001b['
const eraseLine = `${escape}2K`
const up = (lines: number) => (lines > 0 ? `${escape}${lines}A` : '')
const hideCursor = `${escape}?25l`
const showCursor = `${escape}?25h`

/**
 * The last lines of a terminal, drawn again in place: only cursor-up and erase-line, the cursor is left below them. Lines
 * must not be wider than the terminal; after it shrank, the reflowed height of the old ones is erased.
 */
export class LiveRegion {
  readonly #stream: Stream
  #drawn: readonly string[] = []
  #isHidden = false

  constructor(stream: Stream) {
    this.#stream = stream
  }

  draw(lines: readonly string[]): void {
    const old = this.#height()
    const surplus = Math.max(0, old - lines.length)
    const body = lines.map((line) => `${eraseLine}${line}\n`).join('')
    const rest = `${eraseLine}\n`.repeat(surplus)
    const cursor = this.#isHidden ? '' : hideCursor
    this.#isHidden = true
    this.#drawn = lines
    this.#stream.write(`${cursor}\r${up(old)}${body}${rest}${up(surplus)}`)
  }

  /** Takes the region away and gives the cursor back; text can be written as if it had not been there. */
  clear(): void {
    if (this.#drawn.length > 0) this.draw([])
    this.release()
  }

  /** Leaves what is drawn for good and gives the cursor back. */
  release(): void {
    if (this.#isHidden) this.#stream.write(showCursor)
    this.#isHidden = false
    this.#drawn = []
  }

  #height(): number {
    const columns = this.#stream.columns?.() ?? 80
    return this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(paintedWidth(line) / columns)), 0)
  }
}

/** How often a changed frame may be drawn, and after how many such beats an unchanged one is, for its elapsed time. */
export const frameInterval = 100
const beatsPerSecond = 1000 / frameInterval

/** Draws a run in place on a terminal, at most ten times a second. */
export class LiveView {
  readonly #stream: Stream
  readonly #clock: Clock
  readonly #paint: Paint
  readonly #region: LiveRegion
  readonly #endResize: (() => void) | undefined
  #run: RunProgress = progressOf([])
  #isDirty = false
  #isShown = false
  #beats = 0

  constructor(stream: Stream, clock: Clock, paint: Paint) {
    this.#stream = stream
    this.#clock = clock
    this.#paint = paint
    this.#region = new LiveRegion(stream)
    this.#endResize = stream.onResize?.(() => {
      if (this.#isShown) this.#draw()
    })
  }

  event(event: RunEvent): void {
    this.#run = progressAfter(this.#run, event)
    this.#isDirty = true
    if (event.kind === 'run-started') {
      this.#isShown = true
      this.#draw()
    }
  }

  /** One beat of `frameInterval`. */
  tick(): void {
    this.#beats++
    if (this.#isShown && (this.#isDirty || this.#beats >= beatsPerSecond)) this.#draw()
  }

  /** Writes something above the region. */
  above(write: () => void): void {
    const wasShown = this.#isShown
    if (wasShown && this.#run.finishedAt !== undefined) this.close()
    else if (wasShown) this.#region.clear()
    write()
    if (wasShown && this.#isShown) this.#draw()
  }

  /** For SIGTSTP: the terminal belongs to the shell until `resume`. */
  suspend(): void {
    if (this.#isShown) this.#region.clear()
  }

  resume(): void {
    if (this.#isShown) this.#draw()
  }

  /** For the end of the process, whatever caused it: the cursor comes back, what is drawn stays. */
  release(): void {
    this.#isShown = false
    this.#region.release()
  }

  /** Draws the last frame, leaves it, and gives the cursor back. With `failed`, the step at work is shown as failed. */
  close(failed = false): void {
    this.#endResize?.()
    if (!this.#isShown) return
    if (failed && this.#run.finishedAt === undefined) {
      this.#run = progressFailed(this.#run, this.#clock.now().toISOString())
    }
    this.#draw()
    this.#isShown = false
    this.#region.release()
  }

  #draw(): void {
    this.#isDirty = false
    this.#beats = 0
    // The last column stays free: some terminals wrap as soon as it is written.
    const columns = Math.max(1, (this.#stream.columns?.() ?? 80) - 1)
    const rows = this.#stream.rows?.() ?? 24
    this.#region.draw(renderLive(this.#run, this.#clock.now(), { columns, rows }, this.#paint))
  }
}

interface Span {
  text: string
  tone?: Tone
}
type Line = readonly Span[]

/** Up to this column a title is padded, so that bars stand below each other; below `narrow` columns nothing is. */
const titleColumn = 33
const barCells = 12
const narrow = 56
const headerColumns = 72

interface Frame {
  at: Date
  columns: number
  paint: Paint
}

/**
 * The live view: header, one line per step, and last what is waited for. Never wider than `columns` and never higher than
 * `rows` - 1: done steps are folded first, then those to come.
 */
export function renderLive(
  run: RunProgress,
  at: Date,
  size: { columns: number; rows: number },
  paint: Paint,
): string[] {
  if (run.startedAt === undefined) return []
  const frame: Frame = { at, columns: size.columns, paint }
  const foot = footer(run, frame)
  const room = Math.max(1, size.rows - 2 - foot.length)
  const steps = folded(partLines(run.steps), room).map((step) => stepLine(step, frame))
  const lines = [header(run, run.startedAt, frame), ...steps, ...foot]
  return lines.slice(-Math.max(1, size.rows - 1)).map((line) => painted(line, frame))
}

/** The title gives way before the time does. */
function header(run: RunProgress, startedAt: string, { at, columns, paint }: Frame): Line {
  const end = run.finishedAt === undefined ? at : new Date(run.finishedAt)
  const elapsed = duration(end.getTime() - Date.parse(startedAt))
  const left = timeLeft(run, at)
  const title = inLocale(sanitiseLine(run.procedure), paint)
  const long = inLocale(left === undefined ? elapsed : `${elapsed} · ${left}`, paint)
  const right = displayWidth(title) + displayWidth(long) + 2 <= columns ? long : elapsed
  const shown = cut(title, columns - displayWidth(right) - 2, ellipsis(paint))
  const gap = Math.min(columns, headerColumns) - displayWidth(shown) - displayWidth(right)
  return [
    { text: shown, tone: 'strong' },
    { text: `${' '.repeat(Math.max(2, gap))}${right}`, tone: 'dim' },
  ]
}

type Folded = PartLine | { fold: string; shape: StepShape }

/** Done steps become one line, then the ones to come, until the rest fits; the step at work always stays. */
function folded(steps: readonly PartLine[], room: number): Folded[] {
  if (steps.length <= room) return [...steps]
  const done = steps.filter(({ shape }) => shape === 'done')
  const open = steps.filter(({ shape }) => shape !== 'done')
  const head: Folded[] = done.length > 0 && room > 1 ? [{ fold: `${done.length} done`, shape: 'done' }] : []
  const left = room - head.length
  if (open.length <= left) return [...head, ...open]
  const kept = open.slice(0, Math.max(1, left - 1))
  const more = open.length - kept.length
  return [...head, ...kept, ...(left > 1 ? [{ fold: `… ${more} more`, shape: 'todo' as const }] : [])]
}

const toneOf: Record<StepShape, Tone | undefined> = {
  todo: 'dim',
  running: 'strong',
  stalled: 'bad',
  done: 'good',
  failed: 'bad',
}

function stepLine(step: Folded, frame: Frame): Line {
  const { shape } = step
  const mark = toned(` ${markOf(shape, frame.paint)} `, toneOf[shape])
  if ('fold' in step) return [mark, toned(step.fold, 'dim')]
  const beside = titleLine(step, frame)
  const isOpen = shape === 'todo' || shape === 'running'
  return [
    mark,
    toned(titleText(step, beside, frame), isOpen ? toneOf[shape] : undefined),
    toned(beside, isOpen || shape === 'done' ? undefined : 'bad'),
  ]
}

function toned(text: string, tone: Tone | undefined): Span {
  return { text, ...(tone && { tone }) }
}

function titleText({ title }: PartLine, beside: string, { columns, paint }: Frame): string {
  const text = inLocale(sanitiseLine(title), paint)
  if (beside === '') return text
  if (columns >= narrow) return `${pad(text, titleColumn - 4)} `
  return `${cut(text, Math.max(8, columns - 4 - displayWidth(beside)), ellipsis(paint))} `
}

function markOf(shape: StepShape, paint: Paint): string {
  if (shape === 'done') return paint.mark.done
  if (shape === 'todo') return ' '
  return shape === 'running' ? paint.mark.running : paint.mark.failed
}

function titleLine(step: PartLine, frame: Frame): string {
  const parts = step.shape === 'done' ? doneWords(step) : openWords(step, frame)
  const shown = frame.columns < narrow ? parts.slice(0, 1) : [...innerWords(step, parts, frame), ...parts]
  return inLocale(shown.join('  '), frame.paint)
}

/** Which step of a part is at work: it gives way before its count and its time do. */
function innerWords(
  { inner, title }: PartLine,
  parts: readonly string[],
  { columns, paint }: Frame,
): string[] {
  if (inner === undefined) return []
  const taken = Math.max(titleColumn, displayWidth(title) + 4) + displayWidth(parts.join('  ')) + 2
  return columns - taken < 8
    ? []
    : [cut(inLocale(sanitiseLine(inner), paint), columns - taken, ellipsis(paint))]
}

function doneWords({ note, tookMs }: StepLine): string[] {
  return [sanitiseLine(note ?? ''), tookMs === undefined || tookMs < 1000 ? '' : duration(tookMs)].filter(
    Boolean,
  )
}

function openWords(
  { shape, progress, startedAt, stalledAt, inner }: PartLine,
  { at, columns, paint }: Frame,
): string[] {
  // Beside the name of a step there is no room for a bar.
  const bar = progressText(progress, inner === undefined ? columns : 0, paint)
  if (shape === 'failed') return [bar, 'not finished'].filter(Boolean)
  const since = shape === 'stalled' ? stalledAt : startedAt
  const age = since === undefined ? '' : duration(at.getTime() - Date.parse(since))
  return [bar, shape === 'stalled' ? `stalled ${age}` : age].filter(Boolean)
}

function progressText(progress: StepLine['progress'], columns: number, paint: Paint): string {
  if (progress === undefined || progress.total === 0) return ''
  const { done, total, share } = progress
  const count = share ? `${done} %` : `${done}/${total}`
  return columns < narrow ? count : `${paint.bar(done, total, barCells)}  ${count}`
}

/** The last lines: what is waited for, since when, until when, and what stands in the way, in full; for a stall also what helps. */
function footer(run: RunProgress, frame: Frame): Line[] {
  if (run.waiting === undefined) return []
  const { state } = run.waiting
  const isStalled = state.is === 'stalled'
  const why = isStalled ? state.why : state.trouble
  const remedy = isStalled ? (state.remedy ?? []) : []
  return [
    ...waitedFor(run.waiting, frame),
    ...(why === undefined ? [] : whole(`  ${brief(sanitiseLine(why))}`, frame)).map((text): Line => [
      { text, tone: 'bad' },
    ]),
    ...remedy.flatMap((line) => whole(`  → ${sanitiseLine(line)}`, frame)).map((text): Line => [{ text }]),
  ]
}

/** Nothing of it cut: it ends in a name, a version or a command. */
const whole = (text: string, { columns, paint }: Frame): string[] =>
  wrap(inLocale(text, paint), columns).flatMap((line) => pieces(line, columns))

function waitedFor(waiting: NonNullable<RunProgress['waiting']>, frame: Frame): Line[] {
  const { at, columns } = frame
  const { what, how } = waitingWords(waiting, at, waiting.began)
  const text = brief(sanitiseLine(what))
  const all = how.join(', ')
  const tone = waiting.state.is === 'stalled' ? 'bad' : undefined
  if (displayWidth(text) + displayWidth(all) + 2 <= columns)
    return [[toned(text, tone), { text: `, ${all}` }]]
  const limits = displayWidth(all) + 2 <= columns ? all : how[0]
  const lines = whole(text, frame).map((line): Line => [toned(line, tone)])
  return [...lines, [{ text: `  ${limits}`, tone: 'dim' }]]
}

function ellipsis(paint: Paint): string {
  return inLocale('…', paint) === '…' ? '…' : '~'
}

/** Cut first and painted afterwards, so that no colour sequence is cut in two. */
function painted(line: Line, { columns, paint }: Frame): string {
  let room = columns
  const parts = line.map(({ text, tone }) => {
    const shown = cut(inLocale(text, paint), room, ellipsis(paint))
    room -= displayWidth(shown)
    return tone === undefined || shown.trim() === '' ? shown : paint[tone](shown)
  })
  return parts.join('').trimEnd()
}

/** What one line of the live view shows: a step, or a part of several with the one that is at work in it. */
interface PartLine extends StepLine {
  /** The step at work, or how many are done, where the line is of a part. */
  inner?: string
}

/** Steps that follow one another and are of one part are one line, such as a hop of an EUS window with its gate, request and nodes. */
function partLines(steps: readonly StepLine[]): PartLine[] {
  const parts: StepLine[][] = []
  for (const step of steps) {
    const last = parts.at(-1)
    if (last && step.part !== undefined && last[0]?.part === step.part) last.push(step)
    else parts.push([step])
  }
  return parts.flatMap(([first, ...more]) =>
    first === undefined ? [] : [more.length === 0 ? first : partOf(first, [first, ...more])],
  )
}

function partOf(first: StepLine, steps: readonly StepLine[]): PartLine {
  const { id, part = '' } = first
  const estimate = steps.reduce((sum, step) => sum + step.estimate, 0)
  const line = { id, title: part, estimate }
  const atWork = steps.find(({ shape }) => shape !== 'done' && shape !== 'todo')
  if (atWork) {
    const { title, note: _, ...rest } = atWork
    return { ...rest, ...line, ...(title !== part && { inner: title }) }
  }
  const done = steps.filter(({ shape }) => shape === 'done')
  if (done.length === steps.length) return { ...line, shape: 'done', ...endOf(steps) }
  return {
    ...line,
    shape: 'todo',
    ...(done.length > 0 && { inner: `${done.length} of ${steps.length} steps done` }),
  }
}

const nothingChanged = 'already so'

/** What its steps found, where they say one thing; that nothing had to be done only where that is true of all. */
function endOf(steps: readonly StepLine[]): Pick<StepLine, 'note' | 'tookMs'> {
  const tookMs = steps.reduce((sum, step) => sum + (step.tookMs ?? 0), 0)
  const notes = new Set(steps.map(({ note = '' }) => note).filter(Boolean))
  if (notes.size > 1) notes.delete(nothingChanged)
  const [said = ''] = notes
  const isTrue = notes.size === 1 && (said !== nothingChanged || steps.every(({ note }) => note === said))
  return { tookMs, note: isTrue ? said : '' }
}

/** Silence of less than this is none. */
const quietBeats = 1000 / frameInterval

/**
 * On a terminal where nothing has been said for a second: what is waited for, and since when. Gone at the first word. It counts beats:
 * the clock is put right at the first answer, which is what it waits for.
 */
export class BusySign {
  readonly #stream: Stream
  readonly #region: LiveRegion
  #spinner: Ora | undefined
  #beats = 0
  #isOver = false

  constructor(stream: Stream) {
    this.#stream = stream
    this.#region = new LiveRegion(stream)
  }

  /** One beat of `frameInterval`. */
  tick(): void {
    this.#beats++
    if (this.#isOver) return
    if (this.#beats === quietBeats) void this.#load()
    if (this.#spinner !== undefined) this.#draw(this.#spinner)
  }

  stop(): void {
    if (!this.#isOver && this.#spinner !== undefined) this.#region.clear()
    this.#isOver = true
  }

  /** Only the frames are ora's: it would hook the streams of the process to draw them itself. */
  async #load(): Promise<void> {
    const { default: ora } = await import('ora')
    this.#spinner = ora({ isEnabled: false, color: false, spinner: 'line' })
  }

  #draw(spinner: Ora): void {
    spinner.text = `asking the cluster, for ${duration(this.#beats * frameInterval)}`
    this.#region.draw([cut(spinner.frame(), (this.#stream.columns?.() ?? 80) - 1, '~')])
  }
}
