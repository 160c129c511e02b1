import { minutes, seconds } from '../../system/units.ts'

/** How fast migrations succeed. */
export interface Pace {
  perMinute: number
  /** Of how long this is the average, in seconds. */
  overSeconds: number
}

/** Migrations of longer ago say little of now. */
const paceWindow = 15 * minutes
/** One migration alone is no pace. */
const least = 2

/** The average since the first end within the last 15 minutes; undefined where too few ended. Pure. */
export function paceOf(ends: readonly number[], at: Date): Pace | undefined {
  const now = at.getTime()
  const recent = ends.filter((end) => end >= now - paceWindow && end <= now)
  if (recent.length < least) return undefined
  const span = now - recent.reduce((first, end) => Math.min(first, end), now)
  if (span < seconds) return undefined
  // The first end opens the span and is not of it.
  const perMinute = Math.round(((recent.length - 1) / (span / minutes)) * 10) / 10
  return perMinute === 0 ? undefined : { perMinute, overSeconds: Math.round(span / seconds) }
}

/** In seconds, at that pace. */
export function timeFor(migrations: number, { perMinute }: Pace): number {
  return Math.round((migrations / perMinute) * 60)
}
