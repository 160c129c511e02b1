import { parseDuration } from '../../system/duration.ts'

/** As long as an API server itself gives a request, and a little more. */
const usual = 65_000

/** `--request-timeout` in ms; `0` is no limit (undefined). Throws `usage` for a number without a unit, as every duration does. */
export function requestTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return usual
  return text === '0' ? undefined : parseDuration(text) || undefined
}
