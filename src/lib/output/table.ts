import { cut, displayWidth, fill, pieces, wrap } from './text.ts'
import type { Column, Paint, Size, Tone } from './printer.ts'
import { onOneLine, ownMark } from './terminal.ts'

/** kubectl's tables give a column six characters, the gap included. */
const leastNatural = 3
/** Below this many columns nothing can be told in lines that go on. */
const leastRoom = 10
/** Below this many columns a text below a row stands there without its heading. */
const roomForLabels = 40
const labelGap = 2
const unknown = '<none>'

type TableStyle = Partial<Size> & { paint?: Paint }

/**
 * Columns as wide as their widest cell, three blanks apart, no borders, nothing trailing; `<none>` for what is unknown.
 * Where `size.columns` is finite (a terminal) and a row has no room, free text goes on in another line; nothing is cut.
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  size: TableStyle,
): string[] {
  return tableInParts(columns, size)(rows)
}

/**
 * The same table while its rows are still coming: the first part brings the headings, and a later one with a wider cell moves what
 * follows, never what was printed.
 */
export function tableInParts<Row>(
  columns: readonly Column<Row>[],
  size: TableStyle,
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
    const style = { columns: shown, layout, room, paint: size.paint }
    const lines = hasHeading ? [] : linesSideBySide(heading, style)
    for (const line of cells) lines.push(...linesSideBySide(line, style), ...belowLines(line, style))
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

interface LineStyle {
  columns: readonly Pick<Column<never>, 'name' | 'holds'>[]
  layout: Layout
  room: number
  paint: Paint | undefined
}

/** The cells that stand side by side, in as many lines as the highest of them takes. */
function linesSideBySide(cells: readonly Cell[], style: LineStyle): string[] {
  const { layout, room } = style
  return layout.lines.flatMap((indices, number) => {
    const indent = number === 0 ? '' : ' '.repeat(indentFor(room))
    const parts = indices.map((index) => brokenCell(cells[index], index, style))
    const height = parts.reduce((most, { length }) => Math.max(most, length), 1)
    return Array.from({ length: height }, (_, line) =>
      joined(
        parts.map((part) => part[line]),
        indices.map((index) => layout.widths[index] ?? 0),
        { indent, paint: style.paint },
      ),
    )
  })
}

function brokenCell(cell: Cell | undefined, index: number, { columns, layout }: LineStyle): readonly Cell[] {
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
function belowLines(cells: readonly Cell[], { columns, layout, room, paint }: LineStyle): string[] {
  const said = layout.below.filter((index) => cells[index]?.text !== unknown)
  if (said.length === 0) return []
  const labelWidth = room < roomForLabels ? 0 : labelsWidth(layout.below, columns)
  const indent = ' '.repeat(indentFor(room))
  return said.flatMap((index) => {
    const { text, tone } = cells[index] ?? cellOf(undefined)
    const width = room - indent.length
    if (columns[index]?.holds === 'command')
      return wrap(`${indent}${paint?.mark.next ?? `${ownMark}→`} ${text}`, room)
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
function labelsWidth(below: readonly number[], columns: LineStyle['columns']): number {
  const isText = (column: LineStyle['columns'][number] | undefined) => column?.holds === 'text'
  if (columns.filter(isText).length < 2) return 0
  const labels = below.flatMap((index) => (isText(columns[index]) ? (columns[index]?.name ?? '') : []))
  return labels.reduce((most, { length }) => Math.max(most, length + labelGap), 0)
}

function toned(text: string, tone: Tone | undefined, paint: Paint | undefined): string {
  return tone === undefined || paint === undefined ? text : paint[tone](text)
}

/** Blanks between two columns. */
const gap = 3
/** What goes on below a row stands this far in, where there is room for it. */
const indentWidth = 2
const roomForIndent = 20
/** Free text in a narrower column is harder to read than in lines below the row, and words of KubeVirt are as long. */
const leastText = 30

/** What a layout is made of: columns by their place, the widths of what stands in them. */
interface Measured {
  holds: readonly Column<never>['holds'][]
  /** The widest cell of each column. */
  natural: readonly number[]
  /** Of each cell, row by row; 0 where nothing would be told below the row. */
  rows: () => readonly (readonly number[])[]
}

/** Which column stands where. Nothing is cut: what has no room goes on in another line. */
interface Layout {
  /** The columns that share a line; more than one where the names alone are too wide for one. */
  lines: readonly (readonly number[])[]
  widths: readonly number[]
  /** Told below the row, in lines as wide as the terminal. */
  below: readonly number[]
}

const indentFor = (room: number): number => (room < roomForIndent ? 0 : indentWidth)

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1))
}

/**
 * All on one line where there is room. Else commands go below the row; then free text is broken inside of its column, or goes below as
 * well where that takes fewer lines; last the names take several lines. What was below in a part `before` stays there.
 */
function layOut(measured: Measured, room: number, before: readonly number[]): Layout {
  const { holds, natural } = measured
  const all = natural.map((_, index) => index).filter((index) => !before.includes(index))
  const fits = (columns: readonly number[]) => lineWidth(columns.map((i) => natural[i] ?? 0)) <= room
  if (fits(all)) return { lines: [all], widths: natural, below: before }
  const beside = all.filter((index) => holds[index] !== 'command')
  const below = [...before, ...all.filter((index) => holds[index] === 'command')]
  if (fits(beside)) return { lines: [beside], widths: natural, below }
  return withoutRoom(measured, { beside, below }, room)
}

interface Placed {
  beside: readonly number[]
  below: readonly number[]
}

/** The widest text goes below first, until the others have room beside the names. */
function withoutRoom(measured: Measured, { beside, below }: Placed, room: number): Layout {
  const { holds, natural } = measured
  const texts = beside.filter((index) => holds[index] === 'text')
  const widths = squeezedTexts(measured, { beside, texts }, room)
  if (widths) return { lines: [beside], widths, below }
  const widest = texts.toSorted((a, b) => (natural[b] ?? 0) - (natural[a] ?? 0))[0]
  if (widest === undefined) return { ...packed(beside, natural, room), below }
  const placed = {
    beside: beside.filter((index) => index !== widest),
    below: [...below, widest].toSorted((a, b) => a - b),
  }
  return withoutRoom(measured, placed, room)
}

/** The widths with which the texts fit beside the names; undefined where below them they take fewer lines. */
function squeezedTexts(
  measured: Measured,
  { beside, texts }: { beside: readonly number[]; texts: readonly number[] },
  room: number,
): number[] | undefined {
  const widths = [...measured.natural]
  let over = lineWidth(beside.map((index) => widths[index] ?? 0)) - room
  while (over > 0) {
    const widest = texts.reduce((most, index) => Math.max(most, widths[index] ?? 0), 0)
    if (widest <= leastText) return undefined
    const at = texts.find((index) => widths[index] === widest) ?? 0
    widths[at] = widest - 1
    over -= 1
  }
  const lines = linesTaken(measured.rows(), texts, { widths, under: room - indentFor(room) })
  return lines.beside <= lines.below ? widths : undefined
}

function linesTaken(
  rows: readonly (readonly number[])[],
  texts: readonly number[],
  { widths, under }: { widths: readonly number[]; under: number },
): { beside: number; below: number } {
  const lines = { beside: 0, below: 0 }
  for (const row of rows) {
    let highest = 1
    lines.below += 1
    for (const index of texts) {
      const width = row[index] ?? 0
      highest = Math.max(highest, Math.ceil(width / (widths[index] ?? 1)))
      lines.below += Math.ceil(width / under)
    }
    lines.beside += highest
  }
  return lines
}

/** As many columns on a line as there is room for; a name that is wider than that is broken. */
function packed(
  columns: readonly number[],
  natural: readonly number[],
  room: number,
): Pick<Layout, 'lines' | 'widths'> {
  const lines: number[][] = []
  let left = -1
  for (const index of columns) {
    const width = natural[index] ?? 0
    left -= gap + width
    if (left < 0) {
      left = room - (lines.length === 0 ? 0 : indentFor(room)) - width
      lines.push([index])
    } else lines.at(-1)?.push(index)
  }
  const most = lines.length > 1 ? room - indentFor(room) : room
  return { lines, widths: natural.map((width) => Math.max(1, Math.min(width, most))) }
}
