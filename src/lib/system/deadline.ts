import { usageError } from './errors.ts'

/** `--deadline`: an RFC 3339 time, or `HH:MM`, which is the next time that a clock on this machine's wall shows it. */
export function parseDeadline(text: string, now: Date): Date {
  const wall = /^(?<hours>[01]?\d|2[0-3]):(?<minutes>[0-5]\d)$/u.exec(text)?.groups
  if (wall) {
    const next = new Date(now)
    next.setHours(Number(wall['hours']), Number(wall['minutes']), 0, 0)
    if (next <= now) next.setDate(next.getDate() + 1)
    return next
  }
  const time = /^\d{4}-\d\d-\d\dT/u.test(text) ? new Date(text) : undefined
  if (!time || Number.isNaN(time.getTime()))
    throw usageError(
      'deadline',
      `--deadline takes 04:30 or a time such as 2026-11-22T04:30:00Z, not ${JSON.stringify(text)}`,
    )
  if (time <= now) throw usageError('deadline', `--deadline ${text} is over already`)
  return time
}
