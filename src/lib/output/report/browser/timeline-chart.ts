import { axisTop } from 'd3-axis'
import { type ScaleTime, scaleLinear, scaleUtc } from 'd3-scale'
import { select, type Selection } from 'd3-selection'
import { area, curveStepAfter } from 'd3-shape'
import { zoom, zoomIdentity, type ZoomTransform } from 'd3-zoom'
import { spanText } from '../../../kube/duration.ts'
import {
  type Bar,
  clockText,
  type Curve,
  type Lane,
  rowsOf as tableRowsOf,
  type Timeline,
  withoutName,
} from '../lanes.ts'

/** Pixels. */
const size = { row: 24, bar: 16, head: 30, axis: 34, curve: 72, letter: 6.8, right: 30 }
const labelWidth = (width: number): number => (width < 600 ? 120 : 210)

type Svg = Selection<SVGSVGElement, unknown, null, undefined>

interface Row {
  y: number
  height: number
  /** Of a lane; absent: a heading. */
  lane?: Lane
  text: string
}

/** Draws it into this element, and again whenever that has another width. Drag to move, Ctrl and wheel or two fingers or the buttons to zoom. */
export function drawTimeline(into: HTMLElement, timeline: Timeline): void {
  const buttons = select(into).append('p').attr('class', 'buttons')
  const svg = select(into).append('svg').attr('role', 'img').attr('aria-label', labelOf(timeline))
  select(into)
    .append('p')
    .attr('class', 'hint')
    .text(
      `Times are ${timeline.isRelative ? 'since the first step' : 'UTC'}. Drag to move; Ctrl and wheel, two fingers or the buttons zoom.`,
    )
  const chart = new Chart(svg, timeline)
  for (const [text, label, by] of [
    ['+', 'Zoom in', 1.6],
    ['−', 'Zoom out', 1 / 1.6],
    ['All', 'Show all of it', 0],
  ] as const)
    buttons
      .append('button')
      .attr('type', 'button')
      .attr('aria-label', label)
      .text(text)
      .on('click', () => chart.zoomBy(by))
  // Drawing makes the page longer, and a scroll bar takes some of its width: within the observer that would be a change that it could not tell of.
  new ResizeObserver(() => requestAnimationFrame(() => chart.resize(into.clientWidth))).observe(into)
}

function labelOf(timeline: Timeline): string {
  const { begins, ends, lanes } = timeline
  const { rows, total } = tableRowsOf(timeline)
  const groups = [...new Set(lanes.map(({ group }) => group))].join(', ')
  const same = rows.length === total ? 'the same' : `the first ${rows.length} of ${total} parts`
  return `Timeline of ${spanText(ends - begins)}: ${groups}. The table below has ${same}.`
}

class Chart {
  readonly #svg: Svg
  readonly #timeline: Timeline
  readonly #rows: readonly Row[]
  readonly #height: number
  #width = 0
  /** They change with the width alone, not while somebody zooms. */
  #labels: ReadonlyMap<Row, string> = new Map()
  #transform: ZoomTransform = zoomIdentity
  readonly #zoom = zoom<SVGSVGElement, unknown>()

  constructor(svg: Svg, timeline: Timeline) {
    this.#svg = svg
    this.#timeline = timeline
    this.#rows = rowsOf(timeline.lanes)
    const last = this.#rows.at(-1)
    this.#height = (last ? last.y + last.height : size.axis) + 8
  }

  zoomBy(factor: number): void {
    if (factor === 0) this.#zoom.transform(this.#svg, zoomIdentity)
    else this.#zoom.scaleBy(this.#svg, factor)
  }

  resize(width: number): void {
    if (width === this.#width || width === 0) return
    this.#width = width
    const left = labelWidth(width)
    this.#labels = labelsOf(this.#rows, left)
    this.#svg
      .attr('width', width)
      .attr('height', this.#height)
      .attr('viewBox', `0 0 ${width} ${this.#height}`)
    const extent: [[number, number], [number, number]] = [
      [left, 0],
      [width - size.right, this.#height],
    ]
    this.#zoom
      .filter((event: Event) => isMeant(event))
      .scaleExtent([1, 200])
      .extent(extent)
      .translateExtent(extent)
      .on('zoom', ({ transform }: { transform: ZoomTransform }) => {
        this.#transform = transform
        this.#draw()
      })
    this.#svg.call(this.#zoom)
    this.#draw()
  }

  #draw(): void {
    const { begins, ends, isRelative } = this.#timeline
    const [left, right] = [labelWidth(this.#width), this.#width - size.right]
    const x = this.#transform.rescaleX(scaleUtc([begins, ends], [left, right]))
    this.#svg.selectAll('*').remove()
    const clip = this.#svg.append('clipPath').attr('id', 'timeline-clip').append('rect')
    clip
      .attr('x', left - 6)
      .attr('width', right - left + 14)
      .attr('height', this.#height)
    const axis = axisTop<Date>(x)
      .ticks(Math.max(2, Math.floor((right - left) / 110)))
      .tickSizeInner(-(this.#height - size.axis))
      .tickSizeOuter(0)
    axis.tickFormat((time) => (isRelative ? spanText(time.getTime()) : clockText(time, ends - begins)))
    this.#svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${size.axis})`).call(axis)
    const bars = this.#svg.append('g').attr('clip-path', 'url(#timeline-clip)')
    for (const row of this.#rows) {
      labelled(this.#svg, row, this.#labels.get(row) ?? row.text)
      for (const bar of row.lane?.bars ?? []) drawBar(bars, bar, row, x)
      if (row.lane?.curve) drawCurve(bars, row.lane.curve, row, x)
    }
  }
}

/** A wheel alone scrolls the page, and one finger too. */
function isMeant(event: Event): boolean {
  if (event instanceof WheelEvent) return event.ctrlKey || event.metaKey
  if ('touches' in event) return (event as TouchEvent).touches.length > 1
  return !(event instanceof MouseEvent) || event.button === 0
}

/** A heading for each group, a row for each lane. */
function rowsOf(lanes: readonly Lane[]): readonly Row[] {
  const rows: Row[] = []
  let y = size.axis + 4
  const add = (height: number, row: Pick<Row, 'text' | 'lane'>) => {
    rows.push({ ...row, y, height })
    y += height
  }
  for (const [group, own] of Map.groupBy(lanes, (lane) => lane.group)) {
    add(size.head, { text: group })
    for (const lane of own) add(lane.curve ? size.curve : size.row, { text: lane.name, lane })
  }
  return rows
}

function labelled(svg: Svg, { y, height, lane, text }: Row, shown: string): void {
  const label = svg
    .append('text')
    .attr('class', lane ? 'lane' : 'group')
    .attr('x', lane ? 6 : 0)
    .attr('y', y + (lane ? height / 2 + 4 : height - 8))
    .text(shown)
  if (shown !== text) label.append('title').text(text)
}

/** As much of each name as there is room for. Where that is the same of several, they keep their ends: `Update …to 4.19`. */
function labelsOf(rows: readonly Row[], left: number): ReadonlyMap<Row, string> {
  const most = (row: Row) => Math.floor((row.lane ? left - 14 : left + 200) / size.letter)
  const alike = Map.groupBy(rows, (row) => shortened(row.text, most(row)))
  return new Map(
    [...alike].flatMap(([shown, own]) =>
      own.map((row) => [row, own.length > 1 ? withoutMiddle(row.text, most(row)) : shown] as const),
    ),
  )
}

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`

function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const tail = Math.floor((most - 1) / 2)
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`
}

type Group = Selection<SVGGElement, unknown, null, undefined>

function drawBar(group: Group, bar: Bar, row: Row, x: ScaleTime<number, number>): void {
  const { y, height } = row
  const [from, to] = [x(bar.from), x(bar.to)]
  const top = y + (Math.min(height, size.row) - size.bar) / 2
  const mark = group.append('g').attr('class', `bar ${bar.tone}`)
  mark.append('title').text(bar.text)
  if (bar.from === bar.to) {
    mark
      .append('circle')
      .attr('cx', from)
      .attr('cy', top + size.bar / 2)
      .attr('r', 5)
    return
  }
  const width = Math.max(2, to - from)
  mark
    .append('rect')
    .attr('x', from)
    .attr('y', top)
    .attr('width', width)
    .attr('height', size.bar)
    .attr('rx', 2)
  const room = Math.floor((width - 8) / size.letter)
  const text = withoutName(bar.text, row.text)
  if (room < Math.min(text.length, 10)) return
  mark
    .append('text')
    .attr('x', Math.max(from, 0) + 4)
    .attr('y', top + size.bar - 4)
    .text(shortened(text, room))
}

function drawCurve(group: Group, curve: Curve, { y, height }: Row, x: ScaleTime<number, number>): void {
  const most = Math.max(...curve.map(([, value]) => value))
  const scale = scaleLinear([0, most], [y + height - 4, y + size.row])
  const shape = area<readonly [number, number]>()
    .x(([at]) => x(at))
    .y0(scale(0))
    .y1(([, value]) => scale(value))
    .curve(curveStepAfter)
  group
    .append('path')
    .attr('class', 'curve')
    .attr('d', shape(curve) ?? '')
    .append('title')
    .text(`at most ${most} at a time`)
}
