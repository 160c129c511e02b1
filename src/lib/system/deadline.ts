import { usageError } from './errors.ts'

/**
 * `--deadline`: an RFC 3339 time, or `HH:MM`, which is the next time that it is so late in this machine's time zone. `now` is the cluster's,
 * once that has answered. Throws `usage`, also for a time of day that the clocks skip or show twice before it is meant.
 */
export function parseDeadline(text: string, now: Date): Date {
  const time = typedDeadline(text)
  if ('hours' in time) return nextOf(time, now)
  if (time <= now)
    throw usageError('deadline', `--deadline ${text} is over already: it is ${now.toISOString()}`)
  return time
}

/** For before the cluster has said its time. Throws `usage` for what is no deadline at any time. */
export function ensureDeadline(text: string): void {
  typedDeadline(text)
}

interface TimeOfDay {
  text: string
  hours: number
  minutes: number
}

function nextOf(time: TimeOfDay, now: Date): Date {
  const { hours, minutes } = time
  const next = new Date(now)
  next.setHours(hours, minutes, 0, 0)
  if (next <= now) {
    next.setDate(next.getDate() + 1)
    next.setHours(hours, minutes)
  }
  ensureOnce(time, next)
  return next
}

const hour = 3_600_000

/** Where summer time begins or ends: a time of day that does not come, or comes twice. */
function ensureOnce({ text, hours, minutes }: TimeOfDay, next: Date): void {
  const shows = (time: Date) => time.getHours() === hours && time.getMinutes() === minutes
  const times = [next, new Date(next.getTime() + hour)].filter(shows)
  if (times.length === 1) return
  const how = times.length === 0 ? 'does not come, because the clocks skip it' : 'comes twice'
  throw usageError('deadline', `--deadline ${text} ${how}: at the next one summer time begins or ends`, {
    remedy: (times.length === 0 ? [next] : times).map((time) => `--deadline ${rfc3339(time)}`),
  })
}

const rfc3339 = (time: Date): string => time.toISOString().replace('.000Z', 'Z')

const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?<zone>Z|[+-]\d\d:\d\d)?$/iu

function typedDeadline(text: string): Date | TimeOfDay {
  const wall = /^(?<hours>[01]?\d|2[0-3]):(?<minutes>[0-5]\d)$/u.exec(text)?.groups
  if (wall) return { text, hours: Number(wall['hours']), minutes: Number(wall['minutes']) }
  const written = zoned.exec(text)
  const time = new Date(written === null ? NaN : text)
  if (Number.isNaN(time.getTime()))
    throw usageError(
      'deadline',
      `--deadline takes 04:30 or a time such as 2026-11-22T04:30:00Z, not ${JSON.stringify(text)}`,
    )
  if (written?.groups?.['zone'] === undefined)
    throw usageError('deadline', `--deadline ${text} does not say in which time zone`, {
      remedy: `--deadline ${text}Z, or with +01:00 and the like behind it`,
    })
  return time
}
