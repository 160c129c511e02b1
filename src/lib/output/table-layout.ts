import type { Column } from './printer.ts'

/** Blanks between two columns. */
export const gap = 3
/** What goes on below a row stands this far in, where there is room for it. */
const indentWidth = 2
const roomForIndent = 20
/** Free text in a narrower column is harder to read than in lines below the row, and words of KubeVirt are as long. */
const leastText = 30

/** What a layout is made of: columns by their place, the widths of what stands in them. */
export interface Measured {
  holds: readonly Column<never>['holds'][]
  /** The widest cell of each column. */
  natural: readonly number[]
  /** Of each cell, row by row; 0 where nothing would be told below the row. */
  rows: () => readonly (readonly number[])[]
}

/** Which column stands where. Nothing is cut: what has no room goes on in another line. */
export interface Layout {
  /** The columns that share a line; more than one where the names alone are too wide for one. */
  lines: readonly (readonly number[])[]
  widths: readonly number[]
  /** Told below the row, in lines as wide as the terminal. */
  below: readonly number[]
}

export const indentFor = (room: number): number => (room < roomForIndent ? 0 : indentWidth)

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1))
}

/**
 * All on one line where there is room. Else commands go below the row; then free text is broken inside of its column, or goes below as
 * well where that takes fewer lines; last the names take several lines. What was below in a part `before` stays there.
 */
export function layOut(measured: Measured, room: number, before: readonly number[]): Layout {
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
