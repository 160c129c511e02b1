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
    | 'Stages'
    | 'Steps'
    | 'Nodes and pods'
    | 'Changes'
    | 'Temporary changes'
    | 'VMs'
    | 'Alerts'
    | 'Availability'
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
