import { cut, displayWidth, pieces } from './display-width.ts'
import type { Column, Paint, Size, Tone } from './printer.ts'
import { onOneLine } from './sanitise.ts'
import { gap, indentFor, type Layout, layOut } from './table-layout.ts'
import { fill, wrap } from './wrap.ts'

/** kubectl's tables give a column six characters, the gap included. */
const leastNatural = 3
/** Below this many columns nothing can be told in lines that go on. */
const leastRoom = 10
/** Below this many columns a text below a row stands there without its heading. */
const roomForLabels = 40
const labelGap = 2
const unknown = '<none>'

type Look = Partial<Size> & { paint?: Paint }

/**
 * Columns as wide as their widest cell, three blanks apart, no borders, nothing trailing; `<none>` for what is unknown.
 * Where `size.columns` is finite (a terminal) and a row has no room, free text goes on in another line; nothing is cut.
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
  const holds = shown.map((column) => column.holds)
  const heading = shown.map(({ name }) => ({ text: name, width: displayWidth(name) }))
  const room = size.columns ?? Infinity
  let natural = heading.map(({ width }, index) =>
    Math.max(size.headers === false ? 0 : width, index < heading.length - 1 ? leastNatural : 0),
  )
  let below: readonly number[] = []
  let hasHeading = size.headers === false
  return (rows) => {
    const cells = rows.map((row) => shown.map((column) => cellOf(column.cell(row), column.tone?.(row))))
    natural = widened(natural, cells)
    const layout = layOut({ holds, natural, rows: () => cells.map(widthsTold) }, room, below)
    below = layout.below
    const look = { columns: shown, layout, room, paint: size.paint }
    const lines = hasHeading ? [] : besideLines(heading, look)
    for (const line of cells) lines.push(...besideLines(line, look), ...belowLines(line, look))
    hasHeading = true
    return room < leastRoom ? lines.map((line) => cut(line, room)) : lines
  }
}

interface Cell {
  text: string
  /** Measured once: it is what costs most in a long table. */
  width: number
  tone?: Tone | undefined
}

function cellOf(cell: string | number | undefined, tone?: Tone): Cell {
  const text = cell === undefined ? '' : onOneLine(String(cell))
  return text === ''
    ? { text: unknown, width: unknown.length, tone }
    : { text, width: displayWidth(text), tone }
}

const widthsTold = (cells: readonly Cell[]): number[] =>
  cells.map(({ text, width }) => (text === unknown ? 0 : width))

function widened(widths: readonly number[], cells: readonly (readonly Cell[])[]): number[] {
  const widest = [...widths]
  for (const line of cells)
    for (const [index, { width }] of line.entries()) if (width > (widest[index] ?? 0)) widest[index] = width
  return widest
}

interface LineLook {
  columns: readonly Pick<Column<never>, 'name' | 'holds'>[]
  layout: Layout
  room: number
  paint: Paint | undefined
}

/** The cells that stand side by side, in as many lines as the highest of them takes. */
function besideLines(cells: readonly Cell[], look: LineLook): string[] {
  const { layout, room } = look
  return layout.lines.flatMap((indices, number) => {
    const indent = number === 0 ? '' : ' '.repeat(indentFor(room))
    const parts = indices.map((index) => brokenCell(cells[index], index, look))
    const height = parts.reduce((most, { length }) => Math.max(most, length), 1)
    return Array.from({ length: height }, (_, line) =>
      joined(
        parts.map((part) => part[line]),
        indices.map((index) => layout.widths[index] ?? 0),
        { indent, paint: look.paint },
      ),
    )
  })
}

function brokenCell(cell: Cell | undefined, index: number, { columns, layout }: LineLook): readonly Cell[] {
  const width = layout.widths[index] ?? 0
  if (cell === undefined || cell.width <= width) return cell === undefined ? [] : [cell]
  const texts = columns[index]?.holds === 'text' ? fill(cell.text, width) : pieces(cell.text, width)
  return texts.map((text) => cellOf(text.trimStart(), cell.tone))
}

function joined(
  cells: readonly (Cell | undefined)[],
  widths: readonly number[],
  { indent, paint }: { indent: string; paint: Paint | undefined },
): string {
  let line = indent
  let blanks = 0
  for (const [index, cell] of cells.entries()) {
    if (cell) line += ' '.repeat(blanks) + toned(cell.text, cell.tone, paint)
    blanks = (cell ? 0 : blanks) + (widths[index] ?? 0) - (cell?.width ?? 0) + gap
  }
  return line
}

/** What a row says below it: a text after its heading where the table has several, a command after an arrow. */
function belowLines(cells: readonly Cell[], { columns, layout, room, paint }: LineLook): string[] {
  const said = layout.below.filter((index) => cells[index]?.text !== unknown)
  if (said.length === 0) return []
  const labelWidth = room < roomForLabels ? 0 : labelsWidth(layout.below, columns)
  const indent = ' '.repeat(indentFor(room))
  return said.flatMap((index) => {
    const { text, tone } = cells[index] ?? cellOf(undefined)
    const width = room - indent.length
    if (columns[index]?.holds === 'command')
      return wrap(`${paint?.mark.next ?? '→'} ${text}`, width).map((line) => indent + line)
    const label = (columns[index]?.name.toLowerCase() ?? '').padEnd(labelWidth)
    return fill(text, width - labelWidth).map(
      (line, number) =>
        indent +
        (labelWidth === 0 ? '' : number === 0 ? label : ' '.repeat(labelWidth)) +
        toned(line.trimStart(), tone, paint),
    )
  })
}

/** Nothing where the table has only one text: that goes without saying. */
function labelsWidth(below: readonly number[], columns: LineLook['columns']): number {
  const isText = (column: LineLook['columns'][number] | undefined) => column?.holds === 'text'
  if (columns.filter(isText).length < 2) return 0
  const labels = below.flatMap((index) => (isText(columns[index]) ? (columns[index]?.name ?? '') : []))
  return labels.reduce((most, { length }) => Math.max(most, length + labelGap), 0)
}

function toned(text: string, tone: Tone | undefined, paint: Paint | undefined): string {
  return tone === undefined || paint === undefined ? text : paint[tone](text)
}
