import { usageError } from '../../kube/errors.ts'

/** When VMs may begin to move: on these days, between these times of day of a zone. */
export interface Window {
  /** As it was typed. */
  text: string
  /** 0 is Sunday: the days on which it opens. */
  days: readonly number[]
  /** Minutes since midnight; a window that ends before it begins ends on the next day. */
  from: number
  to: number
  zone: string
}

const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const day = 86_400_000
const form = /^(?<days>[A-Za-z,-]+)\s+(?<from>\d{1,2}:\d{2})-(?<to>\d{1,2}:\d{2})\s+(?<zone>\S+)$/u

/** `Sat 22:00-04:00 Europe/Prague`, `Mon-Fri,Sun 00:00-24:00 UTC`, `daily …`. Throws `usage`, also for one that never opens. */
export function parseWindow(typed: string): Window {
  const text = typed.trim().replaceAll(/\s+/gu, ' ')
  const found = form.exec(text)?.groups
  if (found === undefined) throw notAWindow(text, 'it needs days, times and a time zone')
  const { days = '', from = '', to = '', zone = '' } = found
  if (!isZone(zone)) throw notAWindow(text, `${JSON.stringify(zone)} is no time zone that is known`)
  const window = {
    text,
    days: parseDays(days, text),
    from: minutesOf(from, text),
    to: minutesOf(to, text),
    zone,
  }
  if (window.from === window.to)
    throw usageError('window-never-opens', `the window ${JSON.stringify(text)} begins when it ends`, {
      remedy: 'for the whole day: 00:00-24:00',
    })
  if (window.from >= 24 * 60) throw notAWindow(text, 'it begins after the day is over')
  return window
}

/** Until when one of them is open, in ms since the epoch; undefined while all are closed. None at all: always open. Pure. */
export function openUntil(windows: readonly Window[], at: number): number | undefined {
  if (windows.length === 0) return Infinity
  let until = at
  for (;;) {
    const ends = windows
      .flatMap((one) => occurrences(one, until, 0))
      .filter(({ opens, closes }) => opens <= until && until < closes)
    if (ends.length === 0) return until === at ? undefined : until
    const next = Math.max(...ends.map(({ closes }) => closes))
    if (next - at > 8 * day) return Infinity
    until = next
  }
}

/** When the next of them opens, `at` or later; undefined: in no time that matters. Pure. */
export function nextOpening(windows: readonly Window[], at: number): number | undefined {
  if (openUntil(windows, at) !== undefined) return at
  const opens = windows.flatMap((one) => occurrences(one, at, daysAhead)).map((one) => one.opens)
  const later = opens.filter((time) => time > at)
  return later.length === 0 ? undefined : Math.min(...later)
}

/** A window that falls into the hour that is skipped opens a week later. */
const daysAhead = 15

interface Occurrence {
  opens: number
  closes: number
}

/** Those that begin on the day before `at` up to so many days after it, on the zone's calendar. */
function occurrences({ days, from, to, zone }: Window, at: number, ahead: number): readonly Occurrence[] {
  const today = Math.floor(clockIn(zone, at) / day) * day
  const found: Occurrence[] = []
  for (let date = today - day; date <= today + ahead * day; date += day) {
    if (!days.includes(new Date(date).getUTCDay())) continue
    const opens = instantIn(zone, date + from * 60_000)
    const closes = instantIn(zone, date + to * 60_000 + (to <= from ? day : 0))
    if (opens < closes) found.push({ opens, closes })
  }
  return found
}

function parseDays(typed: string, text: string): readonly number[] {
  if (typed.toLowerCase() === 'daily') return [0, 1, 2, 3, 4, 5, 6]
  return [...new Set(typed.split(',').flatMap((part) => daysIn(part, text)))]
}

function daysIn(part: string, text: string): readonly number[] {
  const [first = '', last = first, ...more] = part.split('-')
  const [from, to] = [dayOf(first, text), dayOf(last, text)]
  if (more.length > 0) throw notAWindow(text, `${JSON.stringify(part)} are no days`)
  return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, index) => (from + index) % 7)
}

function dayOf(word: string, text: string): number {
  const index = names.findIndex((name) => name.toLowerCase() === word.toLowerCase())
  if (index === -1) throw notAWindow(text, `${JSON.stringify(word)} is no day: ${names.join(', ')} or daily`)
  return index
}

function minutesOf(typed: string, text: string): number {
  const [hour = 0, minute = 0] = typed.split(':').map(Number)
  if (hour > 24 || minute > 59 || hour * 60 + minute > 24 * 60)
    throw notAWindow(text, `${typed} is no time of day`)
  return hour * 60 + minute
}

function notAWindow(text: string, why: string): Error {
  return usageError('not-a-window', `${JSON.stringify(text)} is not a window: ${why}`, {
    remedy: "it is written like 'Sat 22:00-04:00 Europe/Prague'",
  })
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Throws RangeError for a zone that is not in the tz database. */
function formatFor(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}

function isZone(zone: string): boolean {
  try {
    formatFor(zone)
    return true
  } catch {
    return false
  }
}

/** What the clocks of a zone show at an instant, as ms that read like UTC. Whole seconds. */
function clockIn(zone: string, at: number): number {
  const parts = new Map(
    formatFor(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
}

/**
 * The instant at which the clocks of a zone show this, which is given as ms that read like UTC: the first one where the hour is repeated,
 * and the one at which the clocks are set forward where they never show it.
 */
function instantIn(zone: string, shown: number): number {
  const offsets = [shown - day, shown + day].map((near) => clockIn(zone, near) - near)
  const candidates = offsets.map((offset) => shown - offset).sort((a, b) => a - b)
  const hit = candidates.find((at) => clockIn(zone, at) === shown)
  const [first = shown, last = shown] = candidates
  return hit ?? whenPast(zone, shown, { first, last })
}

/** The first instant at which the clocks show more than that: halved down to a second. */
function whenPast(zone: string, shown: number, between: { first: number; last: number }): number {
  let { first, last } = between
  while (last - first > 1000) {
    const middle = first + Math.floor((last - first) / 2000) * 1000
    if (clockIn(zone, middle) > shown) last = middle
    else first = middle
  }
  return last
}
