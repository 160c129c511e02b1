import { usageError } from './errors.ts'

/**
 * `--deadline`: an RFC 3339 time, or `HH:MM`, which is the next time that it is so late in this machine's time zone. `now` is the cluster's,
 * once that has answered. Throws `usage`.
 */
export function parseDeadline(text: string, now: Date): Date {
  const time = typedDeadline(text)
  if ('hours' in time) return nextOf(time, now)
  if (time <= now) throw usageError('deadline', `--deadline ${text} is over already`)
  return time
}

/** For before the cluster has said its time. Throws `usage` for what is no deadline at any time. */
export function ensureDeadline(text: string): void {
  typedDeadline(text)
}

interface TimeOfDay {
  hours: number
  minutes: number
}

function nextOf({ hours, minutes }: TimeOfDay, now: Date): Date {
  const next = new Date(now)
  next.setHours(hours, minutes, 0, 0)
  if (next <= now) next.setDate(next.getDate() + 1)
  return next
}

function typedDeadline(text: string): Date | TimeOfDay {
  const wall = /^(?<hours>[01]?\d|2[0-3]):(?<minutes>[0-5]\d)$/u.exec(text)?.groups
  if (wall) return { hours: Number(wall['hours']), minutes: Number(wall['minutes']) }
  const time = /^\d{4}-\d\d-\d\dT/u.test(text) ? new Date(text) : undefined
  if (!time || Number.isNaN(time.getTime()))
    throw usageError(
      'deadline',
      `--deadline takes 04:30 or a time such as 2026-11-22T04:30:00Z, not ${JSON.stringify(text)}`,
    )
  return time
}
