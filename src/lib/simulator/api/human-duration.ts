const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Ages as the API server prints them: `45s`, `3m20s`, `17m`, `5h30m`, `2d4h`, `10d`, `2y30d`. */
export function humanDuration(ms: number): string {
  if (ms < -2 * second) return '<invalid>'
  if (ms < 2 * minute) return `${Math.max(0, Math.floor(ms / second))}s`
  if (ms < 10 * minute) return two(ms, [minute, 'm'], [second, 's'])
  if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`
  if (ms < 8 * hour) return two(ms, [hour, 'h'], [minute, 'm'])
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`
  if (ms < 8 * day) return two(ms, [day, 'd'], [hour, 'h'])
  if (ms < 2 * 365 * day) return `${Math.floor(ms / day)}d`
  if (ms < 8 * 365 * day) return two(ms, [365 * day, 'y'], [day, 'd'])
  return `${Math.floor(ms / (365 * day))}y`
}

function two(ms: number, [big, bigUnit]: [number, string], [small, smallUnit]: [number, string]): string {
  const rest = Math.floor((ms % big) / small)
  return `${Math.floor(ms / big)}${bigUnit}${rest === 0 ? '' : `${rest}${smallUnit}`}`
}

/** Since an RFC 3339 time; `<unknown>` where there is none. */
export function ageOf(since: unknown, at: Date): string {
  return typeof since === 'string' ? humanDuration(at.getTime() - Date.parse(since)) : '<unknown>'
}
