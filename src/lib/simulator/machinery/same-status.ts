import { isDeepStrictEqual } from 'node:util'

/** True when writing `wanted` over what is there would change nothing. */
export function sameStatus(there: object | undefined, wanted: object): boolean {
  const now = there ?? {}
  return Object.entries(wanted).every(([key, value]) =>
    isDeepStrictEqual((now as Record<string, unknown>)[key], value),
  )
}
