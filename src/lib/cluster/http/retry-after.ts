/** `Retry-After` in ms: seconds, or an HTTP date measured from `now`. */
export function retryDelay(header: string | undefined, now: Date): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
