import { spanText } from '../../kube/duration.ts'
import { type Fields, textOf } from './fields.ts'

export type BarTone = 'good' | 'bad' | 'warn' | 'dim' | 'running'

/** A span on the axis, in ms. Where it is nothing but a moment, both ends are the same. */
export interface Bar {
  from: number
  to: number
  text: string
  tone: BarTone
}

/** How many VMs are on their way at a time: where there are too many for a lane each. */
export type Curve = readonly (readonly [at: number, value: number])[]

export interface Lane {
  group:
    | 'Clusters'
    | 'Stages'
    | 'Steps'
    | 'Nodes and pods'
    | 'Changes'
    | 'Temporary changes'
    | 'VMs'
    | 'Availability'
    | 'Remarks'
  name: string
  bars: readonly Bar[]
  curve?: Curve
}

/** What happened when, or would. Times are ms since the epoch, or since the first step where `isRelative`. */
export interface Timeline {
  begins: number
  ends: number
  isRelative: boolean
  lanes: readonly Lane[]
  /** What has to be known to read it. */
  note?: string
}

/** So many bars a table shows: a run over days has thousands. */
const rowsAtMost = 500

export interface TimelineRow {
  group: Lane['group']
  name: string
  bar: Bar
}

/** Every bar that is drawn, for those who do not see the drawing; of very many the first of each group. */
export function rowsOf({ lanes }: Timeline): { rows: readonly TimelineRow[]; total: number } {
  const all = lanes.flatMap(({ group, name, bars }) => bars.map((bar) => ({ group, name, bar })))
  if (all.length <= rowsAtMost) return { rows: all, total: all.length }
  const groups = [...Map.groupBy(all, ({ group }) => group).values()]
  // None of them is crowded out by another one.
  const most = fairShare(groups.map(({ length }) => length))
  return { rows: groups.flatMap((rows) => rows.slice(0, most)), total: all.length }
}

/** The greatest number of each that still fits. */
function fairShare(lengths: readonly number[]): number {
  const fits = (most: number) =>
    lengths.reduce((sum, length) => sum + Math.min(length, most), 0) <= rowsAtMost
  let most = 1
  while (fits(most + 1)) most++
  return most
}

const day = 86_400_000

/** `20:24:15`; over days with the day, in UTC as everywhere in kvup's documents. */
export const clockText = (time: Date, span: number): string =>
  span < day ? time.toISOString().slice(11, 19) : time.toISOString().slice(5, 16).replace('T', ' ')

/** The label has the name already: `18 s (6 of 6 nodes)`. */
export const withoutName = (text: string, name: string): string =>
  text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text

/** One row of bars. */
export const lane = (group: Lane['group'], name: string, bars: readonly Bar[]): Lane => ({
  group,
  name,
  bars,
})

/** A lane for each, as on stairs. */
export const stairs = (group: Lane['group'], bars: readonly (Bar & { name: string })[]): readonly Lane[] =>
  bars.map(({ name, ...bar }) => lane(group, name, [bar]))

/** `virt-handler: 18 s` */
export const spanned = (name: string, ms: number): string => `${name}: ${spanText(ms)}`

/** What a person calls a step. */
export const titleOf = (step: Fields): string => textOf(step['title']) ?? textOf(step['id']) ?? ''
