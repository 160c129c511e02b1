import { spanText } from '../../kube/duration.ts'
import { type Bar, clockText, type Curve, type Lane, type Timeline, withoutName } from './lanes.ts'
import { type Markup, markup } from './markup.ts'

/** Units of the drawing, which a browser scales to its width. */
const size = {
  width: 1200,
  left: 230,
  right: 30,
  row: 24,
  bar: 16,
  head: 30,
  axis: 34,
  curve: 72,
  letter: 6.8,
}
const mostTicks = 9
/** Seconds between two ticks of the axis. */
const paces = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]

type Scale = (time: number) => number

interface Row {
  y: number
  height: number
  text: string
  /** Absent: a heading. */
  lane?: Lane
}

/** The timeline as a drawing that stands in the page: a row for each lane, to scale. What a bar is stands in its title, and in the table below. */
export function timelineSvg(timeline: Timeline): Markup {
  const { begins, ends, lanes } = timeline
  const rows = rowsOf(lanes)
  const last = rows.at(-1)
  const height = (last ? last.y + last.height : size.axis) + 8
  const room = size.width - size.left - size.right
  const x: Scale = (time) => tenth(size.left + ((time - begins) / (ends - begins)) * room)
  const groups = [...new Set(lanes.map(({ group }) => group))].join(', ')
  const label = `Timeline of ${spanText(ends - begins)}: ${groups}. The table below says the same.`
  return markup`<svg role="img" aria-label="${label}" viewBox="0 0 ${size.width} ${height}">
${axis(timeline, x, height)}
${rows.map((row) => rowOf(row, x))}</svg>`
}

const tenth = (value: number): number => Math.round(value * 10) / 10

function axis({ begins, ends, isRelative }: Timeline, x: Scale, height: number): Markup {
  const span = ends - begins
  const wanted = span / mostTicks / 1000
  const days = Math.ceil(wanted / 86_400)
  const pace = (paces.find((one) => one >= wanted) ?? days * 86_400) * 1000
  const first = Math.ceil(begins / pace) * pace
  const ticks = Array.from({ length: Math.floor((ends - first) / pace) + 1 }, (_, n) => first + n * pace)
  return markup`<g class="axis">${ticks.map(
    (at) =>
      markup`<line x1="${x(at)}" x2="${x(at)}" y1="${size.axis}" y2="${height}"/><text x="${x(at)}" y="${
        size.axis - 10
      }" text-anchor="middle">${isRelative ? spanText(at) : clockText(new Date(at), span)}</text>`,
  )}</g>`
}

/** A heading for each group, a row for each lane. */
function rowsOf(lanes: readonly Lane[]): readonly Row[] {
  let y = size.axis + 4
  const row = (height: number, more: Pick<Row, 'text' | 'lane'>): Row => {
    y += height
    return { ...more, y: y - height, height }
  }
  return [...Map.groupBy(lanes, ({ group }) => group)].flatMap(([group, own]) =>
    [row(size.head, { text: group })].concat(
      own.map((lane) => row(lane.curve ? size.curve : size.row, { text: lane.name, lane })),
    ),
  )
}

function rowOf({ y, height, lane, text }: Row, x: Scale): Markup {
  if (lane === undefined) return markup`<text class="group" x="0" y="${y + height - 8}">${text}</text>\n`
  const shown = withoutMiddle(text, Math.floor((size.left - 14) / size.letter))
  return markup`<text x="6" y="${y + height / 2 + 4}">${shown}${shown !== text && markup`<title>${text}</title>`}</text>
${distinct(lane.bars, x).map((bar) => barOf(bar, { y, text }, x))}${lane.curve && curveOf(lane.curve, y, x)}\n`
}

/** Of bars that fall on the same spot and look alike the first: a run of days has thousands of moments, and a page has to open. */
const distinct = (bars: readonly Bar[], x: Scale): readonly Bar[] =>
  [
    ...new Map(
      bars
        .toReversed()
        .map((bar) => [[Math.round(x(bar.from)), Math.round(x(bar.to)), bar.tone].join(), bar]),
    ).values(),
  ].toReversed()

/** They keep their ends, in which names that begin alike differ: `Update …to 4.19`. */
function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const tail = Math.floor((most - 1) / 2)
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`
}

function barOf(bar: Bar, { y, text: name }: Pick<Row, 'y' | 'text'>, x: Scale): Markup {
  const [from, to, top] = [x(bar.from), x(bar.to), y + (size.row - size.bar) / 2]
  const width = tenth(Math.max(2, to - from))
  const title = markup`<title>${bar.text}</title>`
  if (bar.from === bar.to)
    return markup`<g class="bar ${bar.tone}">${title}<circle cx="${from}" cy="${top + size.bar / 2}" r="5"/></g>`
  const text = withoutName(bar.text, name)
  const fits = text.length * size.letter <= width - 8
  return markup`<g class="bar ${bar.tone}">${title}<rect x="${from}" y="${top}" width="${width}" height="${
    size.bar
  }" rx="2"/>${fits && markup`<text x="${from + 4}" y="${top + size.bar - 4}">${text}</text>`}</g>`
}

/** How many at a time, as an area of steps. */
function curveOf(curve: Curve, y: number, x: Scale): Markup {
  const most = Math.max(...curve.map(([, value]) => value))
  const [base, room] = [y + size.curve - 4, size.curve - size.row - 4]
  const steps = curve.map(([at, value]) => `H${x(at)}V${tenth(base - (value / most) * room)}`)
  return markup`<path class="curve" d="M${x(curve[0]?.[0] ?? 0)} ${base}${steps.join('')}V${base}Z"><title>at most ${most} at a time</title></path>`
}
