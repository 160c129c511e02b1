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

export function isZone(zone: string): boolean {
  try {
    formatFor(zone)
    return true
  } catch {
    return false
  }
}

/** What the clocks of a zone show at an instant, as ms that read like UTC. Whole seconds. */
export function clockIn(zone: string, at: number): number {
  const parts = new Map(
    formatFor(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
}

const day = 86_400_000

/**
 * The instant at which the clocks of a zone show this, which is given as ms that read like UTC: the first one where the hour is repeated,
 * and the one at which the clocks are set forward where they never show it.
 */
export function instantIn(zone: string, shown: number): number {
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
