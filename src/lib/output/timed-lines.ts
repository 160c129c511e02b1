import { timeOfDay } from './age.ts'

/** `07:10:02 ` */
const timeColumns = 9

/** The room that is left beside the time. */
export const besideTime = (columns: number): number => Math.max(1, columns - timeColumns)

/**
 * With `-w` where nothing can be drawn in place: each line of an answer bears the time at which it was given, as the lines of a run do, so that one
 * found in a log tells when. Blank ones stay blank.
 */
export function timedLines(lines: readonly string[], at: Date): readonly string[] {
  const time = timeOfDay(at)
  return lines.map((line) => (line === '' ? '' : `${time} ${line}`))
}
