import { cut, displayWidth } from './display-width.ts'
import type { Column, Paint, Size, Tone } from './printer.ts'
import { onOneLine } from './sanitise.ts'

const gap = 3
/** A column is not squeezed below this. */
const leastColumn = 6
/** kubectl's tables give a column six characters, the gap included. */
const leastNatural = 3

type Look = Partial<Size> & { paint?: Paint }

/**
 * Columns as wide as their widest cell, three blanks apart, no borders, nothing trailing; `<none>` for what is unknown.
 * Only where `size.columns` is finite (a terminal) is anything cut: the widest columns first, never wrapped.
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], size: Look): string[] {
  return tableInParts(columns, size)(rows)
}

/**
 * The same table while its rows are still coming: the first part brings the headings, and a later one with a wider cell moves what
 * follows, never what was printed.
 */
export function tableInParts<Row>(
  columns: readonly Column<Row>[],
  size: Look,
): (rows: readonly Row[]) => string[] {
  const shown = columns.filter((column) => size.wide === true || column.wide !== true)
  let heads = size.headers === false ? [] : [shown.map(({ name }) => name)]
  let natural: readonly number[] = []
  return (rows) => {
    const cells = rows.map((row) => shown.map((column) => cellText(column.cell(row))))
    const before = natural
    natural = naturalWidths([...heads, ...cells], shown.length).map((width, i) =>
      Math.max(width, before[i] ?? 0),
    )
    const widths = fitted(natural, size.columns ?? Infinity)
    const tones = rows.map((row) => shown.map((column) => column.tone?.(row)))
    const lines = [
      ...heads.map((line) => join(line, widths, [], size)),
      ...cells.map((line, index) => join(line, widths, tones[index] ?? [], size)),
    ]
    heads = []
    return lines
  }
}

function cellText(cell: string | number | undefined): string {
  const text = cell === undefined ? '' : onOneLine(String(cell))
  return text === '' ? '<none>' : text
}

function naturalWidths(lines: readonly (readonly string[])[], count: number): number[] {
  return Array.from({ length: count }, (_, index) =>
    lines.reduce(
      (widest, line) => Math.max(widest, displayWidth(line[index] ?? '')),
      index < count - 1 ? leastNatural : 0,
    ),
  )
}

/** Takes columns from the widest until the line fits or every column is at its least. */
function fitted(natural: readonly number[], room: number): number[] {
  const widths = [...natural]
  let over = lineWidth(widths) - room
  while (over > 0 && Number.isFinite(over)) {
    const widest = widths.indexOf(Math.max(...widths))
    const width = widths[widest] ?? 0
    if (width <= leastColumn) break
    widths[widest] = width - 1
    over -= 1
  }
  return widths
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1))
}

function join(
  cells: readonly string[],
  widths: readonly number[],
  tones: readonly (Tone | undefined)[],
  look: Look,
): string {
  const texts = cells.map((cell, index) => cut(cell, widths[index] ?? 0))
  const blanks = texts.map((text, index) => ' '.repeat((widths[index] ?? 0) - displayWidth(text) + gap))
  const room = look.columns ?? Infinity
  if (lineWidth(widths) > room)
    return cut(
      texts
        .map((text, i) => text + (blanks[i] ?? ''))
        .join('')
        .trimEnd(),
      room,
    )
  const last = texts.length - 1
  return texts
    .map(
      (text, index) => toned(text, tones[index], look.paint) + (index === last ? '' : (blanks[index] ?? '')),
    )
    .join('')
    .trimEnd()
}

function toned(text: string, tone: Tone | undefined, paint: Paint | undefined): string {
  return tone === undefined || paint === undefined ? text : paint[tone](text)
}
