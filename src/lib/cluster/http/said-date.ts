import { type Answer, header } from './answer.ts'

/**
 * The `Date` of an answer (RFC 9110), ms since the epoch. Undefined where there is none, and where it may be somebody else's: an answer
 * out of a cache (`Age`) is of an earlier time, and that of a gateway which could not reach the server (5xx) of its own.
 */
export function saidDate(answer: Pick<Answer, 'status' | 'headers'>): number | undefined {
  const said = header(answer, 'date')
  if (said === undefined || answer.status >= 500 || header(answer, 'age') !== undefined) return undefined
  // Without a zone it would be read as local time.
  const date = said.endsWith('GMT') ? Date.parse(said) : NaN
  return Number.isNaN(date) ? undefined : date
}
