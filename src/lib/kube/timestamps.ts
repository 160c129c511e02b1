/** Milliseconds from an RFC 3339 time to `at`; undefined when the time is absent or unreadable. */
export function since(time: string | null | undefined, at: Date): number | undefined {
  const from = time ? Date.parse(time) : Number.NaN
  return Number.isNaN(from) ? undefined : at.getTime() - from
}

/** The latest of some RFC 3339 times; absent ones are skipped. */
export const latest = (times: readonly (string | null | undefined)[]): string | undefined =>
  pick(times, (a, b) => a > b)

/** The earliest of some RFC 3339 times; absent ones are skipped. */
export const earliest = (times: readonly (string | null | undefined)[]): string | undefined =>
  pick(times, (a, b) => a < b)

function pick(
  times: readonly (string | null | undefined)[],
  better: (a: number, b: number) => boolean,
): string | undefined {
  let best: string | undefined
  for (const time of times)
    if (time && (best === undefined || better(Date.parse(time), Date.parse(best)))) best = time
  return best
}
