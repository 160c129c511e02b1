import { cut, displayWidth, fill, paintedWidth, pieces, wrap, helpLine } from '../text.ts'
import { inLocale, printedLine, sanitiseLine, type Stream } from '../terminal.ts'
import type { RunEvent } from '../../engine/step.ts'
import type { Clock } from '../../kube/clock.ts'
import { spanText } from '../../kube/duration.ts'
import type { Paint, Tone } from '../printer.ts'
import {
  progressAfter,
  progressFailed,
  progressOf,
  progressStopped,
  type RunProgress,
  type StageLine,
  stagesOf,
  stepsAlone,
  type StepShape,
} from './run-progress.ts'
import { percentDone, timeLeft } from './time-left.ts'
import { countText, doneText, givesUp, phraseOf, stallWord, troubleOf } from './progress-words.ts'

const escape = '\u001b['
const eraseLine = `${escape}2K`
const up = (lines: number) => (lines > 0 ? `${escape}${lines}A` : '')
export const hideCursor = `${escape}?25l`
export const showCursor = `${escape}?25h`

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
  /** Each step is a line, and not each stage. */
  readonly #verbose: boolean
  readonly #region: LiveRegion
  readonly #endResize: (() => void) | undefined
  #run: RunProgress = progressOf([])
  #isDirty = false
  #isShown = false
  #beats = 0

  constructor(stream: Stream, clock: Clock, paint: Paint, verbose = false) {
    this.#stream = stream
    this.#clock = clock
    this.#paint = paint
    this.#verbose = verbose
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

  /** Draws the last frame, leaves it, and gives the cursor back. Where it `failed`, the step at work is shown as failed; else it was told to stop, or somebody interrupted it. */
  close(failed = false): void {
    this.#endResize?.()
    if (!this.#isShown) return
    if (this.#run.finishedAt === undefined) {
      const end = failed ? progressFailed : progressStopped
      this.#run = end(this.#run, this.#clock.now().toISOString())
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
    this.#region.draw(
      renderLive(this.#run, this.#clock.now(), { columns, rows, verbose: this.#verbose }, this.#paint),
    )
  }
}

interface Span {
  text: string
  tone?: Tone
}
type Line = readonly Span[]

/** Of the bar of one stage, the shorter one where what happens fits beside it then. */
const barCells = [12, 6] as const
/** Below so many columns nothing stands in columns, and what happens stands below the name of its stage. */
const narrow = 56
/** Names of stages are padded up to here. */
const nameColumns = 30
/** Of the bar over all stages. */
const wholeBar = { least: 6, most: 24 }

interface Frame {
  at: Date
  columns: number
  paint: Paint
  /** Of the longest name that is shown. */
  names: number
  /** Lines are cut rather than wrapped: there are few rows. */
  isTight?: true
}

export interface FrameSize {
  columns: number
  rows: number
  /** Each step is a line, and not each stage. */
  verbose?: boolean
}

/**
 * The live view: what it is and how far, a line for each stage, what is in the way, and that it may be left. Never wider than `columns`
 * and never higher than `rows` - 1: what is always so goes first, then done stages are folded, then those to come.
 */
export function renderLive(run: RunProgress, at: Date, size: FrameSize, paint: Paint): string[] {
  if (run.startedAt === undefined) return []
  const { columns, rows, verbose = false } = size
  const stages = verbose ? stepsAlone(run.steps) : stagesOf(run)
  const names = Math.min(
    nameColumns,
    Math.max(0, ...stages.map(({ title }) => displayWidth(nameIn(title, paint)))),
  )
  const frame: Frame = { at, columns, paint, names }
  const head = header(run, run.startedAt, frame)
  const foot = footer(run, frame)
  const safe =
    run.finishedAt === undefined ? whole(ctrlC, frame).map((text): Line => [toned(text, 'dim')]) : []
  const atWork = stages.flatMap((stage) => (isOpen(stage) ? stageLines(stage, run, frame) : []))
  const others = Math.max(1, atWork.length)
  const most = Math.max(1, rows - 1)
  const shown = [
    head.length + foot.length + stages.length - 1 + others + safe.length <= most ? safe : [],
  ].flat()
  const room = Math.max(1, most - head.length - foot.length - shown.length - (others - 1))
  const kept = folded(stages, room)
  const all = kept.flatMap((stage) => stageLines(stage, run, frame))
  const isTooHigh = head.length + all.length + foot.length + shown.length > most
  const lines = isTooHigh ? kept.flatMap((stage) => stageLines(stage, run, { ...frame, isTight: true })) : all
  return [...head, ...lines, ...foot, ...shown].slice(-most).map((line) => painted(line, frame))
}

const ctrlC = 'Ctrl-C ends kvup; what has begun goes on. The same command continues.'

const isOpen = ({ shape }: StageLine): boolean => shape === 'running' || shape === 'stalled'

const nameIn = (title: string, paint: Paint): string => inLocale(sanitiseLine(title), paint)

/** On one line where it fits: what it is, a bar, percent, time. The bar gives way first, then what is left; on a narrow terminal the title has a line of its own. */
function header(run: RunProgress, startedAt: string, frame: Frame): Line[] {
  const { at, columns, paint } = frame
  const end = run.finishedAt === undefined ? at : new Date(run.finishedAt)
  const span = end.getTime() - Date.parse(startedAt)
  // At the end as the report below says it, which has whole seconds.
  const elapsed = spanText(run.finishedAt === undefined ? span : Math.round(span / 1000) * 1000)
  const left = timeLeft(run, at)
  const title = nameIn(run.title ?? run.procedure, paint)
  const percent = percentDone(run, at)
  const times = inLocale([elapsed, ...(left === undefined ? [] : [left])].join(', '), paint)
  const said = `${percent} %  ${times}`
  const room = columns - displayWidth(title) - 2
  if (displayWidth(said) <= room) {
    const gap = room - displayWidth(said) + 2
    const cells = Math.min(wholeBar.most, gap - 3)
    const bar = cells < wholeBar.least ? '' : `${paint.bar(percent, 100, cells)} `
    return [
      [
        toned(title, 'strong'),
        toned(`${' '.repeat(gap - displayWidth(bar))}${bar}`, undefined),
        toned(said, 'dim'),
      ],
    ]
  }
  const cells = Math.min(wholeBar.most, columns - displayWidth(said) - 1)
  const bar = cells < wholeBar.least ? '' : `${paint.bar(percent, 100, cells)} `
  const below = displayWidth(said) <= columns ? said : `${percent} %  ${elapsed}`
  return [
    [toned(cut(title, columns, ellipsis(paint)), 'strong')],
    [toned(bar, undefined), toned(below, 'dim')],
  ]
}

type Folded = StageLine | { fold: string; shape: StepShape }

/** Done stages become one line, then the ones to come, until the rest fits; the stage at work always stays. */
function folded(stages: readonly StageLine[], room: number): Folded[] {
  if (stages.length <= room) return [...stages]
  const done = stages.filter(({ shape }) => shape === 'done')
  const open = stages.filter(({ shape }) => shape !== 'done')
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

function toned(text: string, tone: Tone | undefined): Span {
  return { text, ...(tone && { tone }) }
}

function stageLines(stage: Folded, run: RunProgress, frame: Frame): Line[] {
  const { shape } = stage
  const mark = toned(` ${markOf(shape, frame.paint)} `, toneOf[shape])
  if ('fold' in stage) return [[mark, toned(stage.fold, 'dim')]]
  const name = toned(
    cut(nameIn(stage.title, frame.paint), Math.min(frame.columns - 3, nameColumns), ellipsis(frame.paint)),
    shape === 'todo' || shape === 'running' ? toneOf[shape] : undefined,
  )
  const isOver = run.finishedAt !== undefined
  if (!isOver && (shape === 'running' || shape === 'stalled'))
    return openLines([mark, name], stage, { run, frame })
  const rest = restOf(stage, frame)
  return isOver && !frame.isTight
    ? allBesideName([mark, name], rest, frame)
    : [besideName([mark, name], rest, frame)]
}

/** What a stage says that is not at work. */
function restOf(stage: StageLine, frame: Frame): { text: string; tone?: Tone; right?: string } {
  const { shape, tookMs = 0, ahead = '', progress } = stage
  if (shape === 'done')
    return { text: sanitiseLine(doneText(stage)), right: tookMs < 1000 ? '' : spanText(tookMs) }
  if (shape === 'todo') return { text: sanitiseLine(ahead), tone: 'dim' }
  const count = frame.columns < narrow ? '' : counted(progress, frame)
  const tone = shape === 'running' ? undefined : 'bad'
  return { text: [count, 'not finished'].filter(Boolean).join('  '), ...(tone && { tone }) }
}

function roomBeside(name: Span, { columns, names }: Pick<Frame, 'columns' | 'names'>) {
  const gap = columns < narrow ? 1 : Math.max(2, names + 2 - displayWidth(name.text))
  return { gap, room: columns - 3 - displayWidth(name.text) - gap }
}

/** The same of a line that stays on the screen: what does not fit is wrapped below it. */
function allBesideName(
  head: readonly [Span, Span],
  rest: { text: string; tone?: Tone; right?: string },
  frame: Frame,
): Line[] {
  const { gap, room } = roomBeside(head[1], frame)
  const [first = '', ...more] = fill(inLocale(rest.text, frame.paint), Math.max(1, room))
  const indent = ' '.repeat(3 + displayWidth(head[1].text) + gap)
  return [
    besideName(head, { ...rest, text: first }, frame),
    ...more.map((line): Line => [toned(`${indent}${line}`, rest.tone)]),
  ]
}

/** Behind the name, in a column of its own where there is room; what stands at the right end gives way before it. */
function besideName(
  [mark, name]: readonly [Span, Span],
  { text, tone, right = '' }: { text: string; tone?: Tone | undefined; right?: string },
  { columns, paint, names }: Frame,
): Line {
  const shown = inLocale(text, paint)
  if (shown === '' && right === '') return [mark, name]
  const { gap, room } = roomBeside(name, { columns, names })
  if (room < 4) return [mark, name]
  const cutShort = cut(shown, room, ellipsis(paint))
  const free = room - displayWidth(cutShort) - displayWidth(right)
  const end = right === '' || free < 2 ? [] : [toned(`${' '.repeat(free)}${right}`, 'dim')]
  return [mark, name, toned(`${' '.repeat(gap)}${cutShort}`, tone), ...end]
}

/** The stage at work: its count, and what happens beside it where that fits, or else whole below it. */
function openLines(
  head: readonly [Span, Span],
  stage: StageLine,
  { run, frame }: { run: RunProgress; frame: Frame },
): Line[] {
  const { columns, paint, names, at } = frame
  const isStalled = stage.shape === 'stalled'
  const since = stage.stalledAt ?? stage.startedAt
  const state = run.waiting && stage.steps.includes(run.waiting.step) ? run.waiting.state : undefined
  const phrase = isStalled
    ? `${stallWord(state)}${since === undefined ? '' : ` for ${spanText(at.getTime() - Date.parse(since))}`}`
    : state === undefined
      ? ''
      : phraseOf(state)
  const tone = isStalled ? 'bad' : undefined
  const text = inLocale(sanitiseLine(phrase), paint)
  const before =
    columns < narrow ? 4 + displayWidth(head[1].text) : 5 + Math.max(names, displayWidth(head[1].text))
  for (const cells of barCells) {
    const beside = [counted(stage.progress, frame, cells), text].filter(Boolean).join('   ')
    if (text === '' || before + displayWidth(beside) <= columns)
      return [besideName(head, { text: beside === '' ? 'running' : beside, tone }, frame)]
  }
  const first = besideName(head, { text: counted(stage.progress, frame), tone }, frame)
  return [first, ...whole(`     ${text}`, frame).map((line): Line => [toned(line, tone)])]
}

/** `████░░░░ 4 of 6 nodes`; on a narrow terminal without the bar. */
function counted(
  progress: StageLine['progress'],
  { columns, paint }: Frame,
  cells: number = barCells[0],
): string {
  const text = countText(progress)
  if (text === '' || progress === undefined || columns < narrow) return text
  return `${paint.bar(progress.done, progress.total, cells)} ${text}`
}

function markOf(shape: StepShape, paint: Paint): string {
  if (shape === 'done') return paint.mark.done
  if (shape === 'todo') return ' '
  return shape === 'running' ? paint.mark.running : paint.mark.failed
}

/** Below the stages: what stands in the way, in full; of a stall also what helps; and when it gives up, once that is near. */
function footer(run: RunProgress, frame: Frame): Line[] {
  if (run.waiting === undefined) return []
  const { state } = run.waiting
  const why = troubleOf(state)
  const remedy = state.is === 'stalled' ? (state.remedy ?? []) : []
  const end = givesUp(run.waiting, frame.at)
  return [
    ...(why === undefined ? [] : whole(`  ${sanitiseLine(why)}`, frame)).map((text): Line => [
      { text, tone: state.is === 'stalled' ? 'bad' : 'warn' },
    ]),
    ...remedy
      .flatMap((line) => whole(`  ${helpLine(sanitiseLine(line), frame.paint)}`, frame))
      .map((text): Line => [{ text }]),
    ...(end === undefined ? [] : whole(`  ${end}`, frame)).map((text): Line => [{ text, tone: 'warn' }]),
  ]
}

/** Nothing of it cut: it ends in a name, a version or a command. */
const whole = (text: string, { columns, paint }: Frame): string[] =>
  wrap(inLocale(text, paint), columns).flatMap((line) => pieces(printedLine(line), columns))

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
