import { hours, minutes, seconds } from '../system/units.ts'

/** A span of time that is not known exactly, in ms. */
export interface Range {
  low: number
  high: number
}

export const nothing: Range = { low: 0, high: 0 }

/** One after the other. What is slow on a cluster is slow in every step, so both ends add up. */
export function inTurn(ranges: readonly Range[]): Range {
  return ranges.reduce((sum, { low, high }) => ({ low: sum.low + low, high: sum.high + high }), nothing)
}

/** Each end on its side to what a person would say: 5 s below a minute, 30 s below five, then whole minutes, then five. */
export function rounded({ low, high }: Range): Range {
  return {
    low: Math.floor(low / grain(low)) * grain(low),
    high: Math.ceil(high / grain(high)) * grain(high),
  }
}

function grain(ms: number): number {
  if (ms < minutes) return 5 * seconds
  if (ms < 5 * minutes) return 30 * seconds
  return ms < 20 * minutes ? minutes : 5 * minutes
}

/** `less than 1 min`, `30 s to 5 min`, `4 to 7 min`, `1 to 3 h`. */
export function rangeWords(range: Range): string {
  const { low, high } = rounded(range)
  if (high < minutes) return 'less than 1 min'
  if (high > 2 * hours) return between(Math.floor(low / hours), Math.ceil(high / hours), 'h')
  const most = Math.ceil(high / minutes)
  if (low < minutes) return low < 15 * seconds ? `up to ${most} min` : `${low / seconds} s to ${most} min`
  return between(Math.floor(low / minutes), most, 'min')
}

/** `less than 1 min`, `about 4 min`, `about 3 h`. */
export function aboutWords(ms: number): string {
  if (ms < minutes) return 'less than 1 min'
  return ms > 2 * hours ? `about ${Math.round(ms / hours)} h` : `about ${Math.round(ms / minutes)} min`
}

function between(from: number, to: number, unit: string): string {
  if (from === 0) return `up to ${to} ${unit}`
  return from === to ? `about ${to} ${unit}` : `${from} to ${to} ${unit}`
}
