import { usageError } from './errors.ts'

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** What a timer can be set to: it would go off at once beyond. */
const longest = 2 ** 31 - 1

const part = /(\d+(?:\.\d+)?)(ms|[smhd])/g

/** What kvup is to wait for: `90s`, `5m`, `1h30m`, `0s` in ms. A number needs a unit: throws `usage` otherwise, and where no timer takes it. */
export function parseDuration(text: string): number {
  const ms = parseSpan(text)
  if (ms <= longest) return ms
  throw usageError('not-a-duration', `${JSON.stringify(text.trim())} is longer than kvup can wait`, {
    remedy: 'at most 24d',
  })
}

/** Written in the same way, of a time that is over: it may be as long as it likes. Throws `usage`. */
export function parseSpan(text: string): number {
  const typed = text.trim()
  const ms = summed(typed, part, units)
  if (ms !== undefined) return ms
  const number = /^\d+(\.\d+)?$/.test(typed)
  const seconds = Number(typed)
  const inUnits =
    seconds === 0
      ? '0s for no time at all; 24d is the longest that kvup can wait'
      : `${typed}s for seconds, ${typed}m for minutes`
  throw usageError(
    'not-a-duration',
    `${JSON.stringify(typed)} is not a duration${number ? ': it needs a unit' : ''}`,
    { remedy: number ? inUnits : 'write it like 90s, 5m, 1h30m or 2d' },
  )
}

/** Undefined for a text that has anything else in it, or nothing. */
function summed(text: string, one: RegExp, sizes: Readonly<Record<string, number>>): number | undefined {
  const parts = [...text.matchAll(one)]
  if (text === '' || parts.map(([all]) => all).join('') !== text) return undefined
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (sizes[unit] ?? 0), 0)
}

/** As it stands in a sentence: `9 s`, `1 m 05 s`, `2 m`, `1 h 05 m`, `2 d 3 h`; under a second `0 s`. */
export function spanText(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / 1000))
  const days = Math.floor(whole / 86_400)
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor(whole / 60)
  if (days >= 2) return inTwo(`${days} d`, hours % 24, 'h')
  if (hours > 0) return inTwo(`${hours} h`, minutes % 60, 'm', 2)
  if (minutes > 0) return inTwo(`${minutes} m`, whole % 60, 's', 2)
  return `${whole} s`
}

/** With tenths up to a minute: `9.5 s`, and from there on as `spanText`. */
export const secondsText = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : spanText(seconds * 1000)

/**
 * Half as long to twice as long. Both in ms. Two seconds more or less count as equal: both ends of a stage are rounded to seconds and seen a little late, so of what is over in two or
 * three seconds a half and a double are within the error of the measurement. From four seconds on the factor alone decides.
 */
export const takesAlike = (expected: number, took: number): boolean =>
  Math.abs(took - expected) <= 2000 || (took >= expected / 2 && took <= expected * 2)

const inTwo = (head: string, rest: number, unit: string, digits = 1): string =>
  rest === 0 ? head : `${head} ${String(rest).padStart(digits, '0')} ${unit}`

/**
 * `--deadline`: an RFC 3339 time, or `HH:MM`, which is the next time that it is so late in this machine's time zone. `now` is the cluster's,
 * once that has answered. Throws `usage`, also for a time of day that the clocks skip or show twice before it is meant.
 */
export function parseDeadline(text: string, now: Date): Date {
  const time = typedDeadline(text)
  if ('hours' in time) return nextOf(time, now)
  if (time <= now)
    throw usageError('deadline', `--deadline ${text} has passed already: it is ${now.toISOString()}`)
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

function nextOf({ text, hours, minutes }: TimeOfDay, now: Date): Date {
  const next = new Date(now)
  next.setHours(hours, minutes, 0, 0)
  if (next <= now) {
    next.setDate(next.getDate() + 1)
    next.setHours(hours, minutes)
  }
  // Where summer time begins or ends: a time of day that does not come, or comes twice.
  const shows = (time: Date) => time.getHours() === hours && time.getMinutes() === minutes
  const times = [next, new Date(next.getTime() + units.h)].filter(shows)
  if (times.length === 1) return next
  const how = times.length === 0 ? 'does not come, because the clocks skip it' : 'comes twice'
  throw usageError('deadline', `--deadline ${text} ${how}: daylight saving time starts or ends then`, {
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
    throw usageError('deadline', `--deadline ${text} names no time zone`, {
      remedy: `--deadline ${text}Z, or with an offset such as +01:00`,
    })
  return time
}

const goUnits = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 }

/** A duration as the API has it, `1m0s`, in ms; undefined where it is none. */
export const goDuration = (text: string): number | undefined =>
  summed(text, /(\d+(?:\.\d+)?)(ms|us|µs|ns|[hms])/gu, goUnits)

/** As the API writes it back: `1m0s`, `1h0m0s`, `500ms`. */
export function toGoDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  const hours = Math.floor(ms / goUnits.h)
  const minutes = Math.floor((ms % goUnits.h) / goUnits.m)
  const seconds = `${(ms % goUnits.m) / goUnits.s}s`
  if (hours > 0) return `${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}
