import type { KubeObject } from '../object.ts'

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)

/** These lie in the future. */
const future = /^(deletionTimestamp|notAfter|expirationTimestamp)$/

/** The latest time that an object speaks of: Leases and heartbeats are seconds old when they are read. RFC 3339. */
export function latestTime(objects: readonly KubeObject[]): string | undefined {
  let latest: string | undefined
  const look = (value: unknown, key: string): void => {
    if (isTime(value)) {
      if (/time(stamp)?$/i.test(key) && !future.test(key) && (latest === undefined || value > latest))
        latest = value
    } else if (typeof value === 'object' && value !== null)
      for (const [name, below] of Object.entries(value)) look(below, name)
  }
  for (const object of objects) look(object, '')
  return latest
}
