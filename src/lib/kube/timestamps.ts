/** Milliseconds from an RFC 3339 time to `at`; undefined when the time is absent or unreadable. */
export function since(time: string | null | undefined, at: Date): number | undefined {
  const from = time ? Date.parse(time) : Number.NaN
  return Number.isNaN(from) ? undefined : at.getTime() - from
}

/** The latest of some RFC 3339 times; absent ones are skipped. */
export function latest(times: readonly (string | null | undefined)[]): string | undefined {
  return pick(times, (a, b) => a > b)
}

/** The earliest of some RFC 3339 times; absent ones are skipped. */
export function earliest(times: readonly (string | null | undefined)[]): string | undefined {
  return pick(times, (a, b) => a < b)
}

function pick(
  times: readonly (string | null | undefined)[],
  better: (a: number, b: number) => boolean,
): string | undefined {
  let best: string | undefined
  let bestAt = Number.NaN
  for (const time of times) {
    if (!time || time === best) continue
    const at = Date.parse(time)
    if (best !== undefined && !better(at, bestAt)) continue
    best = time
    bestAt = at
  }
  return best
}
