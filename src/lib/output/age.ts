import { spanText } from '../kube/duration.ts'
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

/** Each row: below this age, the larger unit and, where its rest is not 0, the smaller one. Behaviour of kubectl's AGE column. */
const rules: readonly { below: number; large: [number, string]; small?: [number, string] }[] = [
  { below: 2 * minute, large: [second, 's'] },
  { below: 10 * minute, large: [minute, 'm'], small: [second, 's'] },
  { below: 3 * hour, large: [minute, 'm'] },
  { below: 8 * hour, large: [hour, 'h'], small: [minute, 'm'] },
  { below: 2 * day, large: [hour, 'h'] },
  { below: 8 * day, large: [day, 'd'], small: [hour, 'h'] },
  { below: 2 * year, large: [day, 'd'] },
  { below: 8 * year, large: [year, 'y'], small: [day, 'd'] },
]

/** `12d`, `3h5m`, `45s`: a span of ms as kubectl shows ages; `0s` where another clock is ahead of ours. */
export function humanAge(ms: number): string {
  const span = Math.max(0, ms)
  const rule = rules.find(({ below }) => span < below) ?? { large: [year, 'y'] as const }
  return inUnits(span, rule.large, 'small' in rule ? rule.small : undefined)
}

function inUnits(ms: number, large: readonly [number, string], small?: readonly [number, string]): string {
  const [size, unit] = large
  const head = `${Math.floor(ms / size)}${unit}`
  if (small === undefined) return head
  const rest = Math.floor((ms % size) / small[0])
  return rest === 0 ? head : `${head}${rest}${small[1]}`
}

/** Age of an RFC 3339 time at another moment; `<unknown>` without one. */
export function ageAt(since: string | undefined, at: Date | string): string {
  const then = since === undefined ? Number.NaN : Date.parse(since)
  if (Number.isNaN(then)) return '<unknown>'
  return humanAge(new Date(at).getTime() - then)
}

/** Age of an RFC 3339 time at another moment as it stands in a sentence, `1 m 05 s`; `<unknown>` without one, `0 s` where another clock is ahead of ours. */
export function spanSince(since: string | undefined, at: Date | string): string {
  const then = since === undefined ? Number.NaN : Date.parse(since)
  return Number.isNaN(then) ? '<unknown>' : spanText(new Date(at).getTime() - then)
}

/** `07:10:02` in the local time of the reader. */
export function timeOfDay(at: Date | string): string {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return '--:--:--'
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((n) => String(n).padStart(2, '0'))
    .join(':')
}

/** The same with its day where that is not within the next twelve hours, for `22:00` eight days on is not tonight: `2026-11-30 07:10:02`. */
export function timeAfter(at: Date | string, now: Date): string {
  const time = new Date(at)
  const isNear = Math.abs(time.getTime() - now.getTime()) < 12 * hour
  if (isNear || Number.isNaN(time.getTime())) return timeOfDay(time)
  const date = [time.getFullYear(), time.getMonth() + 1, time.getDate()]
  return `${date.map((n) => String(n).padStart(2, '0')).join('-')} ${timeOfDay(time)}`
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `22 Nov 21:17` in the local time of the reader, with the year where that is another one; what is no time as `-`. */
export function dayAndTime(at: Date | string, now: Date | string): string {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return '-'
  const ofTime = time.getFullYear()
  const date = `${time.getDate()} ${months[time.getMonth()] ?? ''}`
  return `${ofTime === new Date(now).getFullYear() ? date : `${date} ${ofTime}`} ${timeOfDay(time).slice(0, 5)}`
}
