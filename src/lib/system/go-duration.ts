const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 } as const
type Unit = keyof typeof units

/** A duration as the API has it, `1m0s`, in ms; undefined where it is none. */
export function goDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|us|µs|ns|[hms])/gu)]
  if (parts.length === 0 || parts.map(([all]) => all).join('') !== text) return undefined
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit as Unit], 0)
}

/** As the API writes it back: `1m0s`, `1h0m0s`, `500ms`. */
export function toGoDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  const hours = Math.floor(ms / units.h)
  const minutes = Math.floor((ms % units.h) / units.m)
  const seconds = `${(ms % units.m) / units.s}s`
  if (hours > 0) return `${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}
