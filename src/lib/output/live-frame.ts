import { brief } from './brief.ts'
import { duration } from './age.ts'
import { cut, displayWidth, pad, pieces } from './display-width.ts'
import { inLocale } from './paint.ts'
import { type PartLine, partLines } from './part-lines.ts'
import type { Paint, Tone } from './printer.ts'
import type { RunProgress, StepLine, StepShape } from './progress.ts'
import { sanitiseLine } from './sanitise.ts'
import { timeLeft } from './time-left.ts'
import { waitingWords } from './wording.ts'
import { wrap } from './wrap.ts'

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
  const beside = besideTitle(step, frame)
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

function besideTitle(step: PartLine, frame: Frame): string {
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
