import { ApiError, KvupError } from '../system/errors.ts'
import { exitCode } from '../system/exit-codes.ts'

/**
 * What a failure means for a run: `retry` (server away, 429, 5xx, an expired list, what the run works on is not in a list), `login` (401), `decide-again` (somebody wrote
 * first, or a JSON patch's `test` failed), `fatal` (everything else: 403, a blocked step, a lost lock, a bug).
 */
export type Meaning = 'retry' | 'login' | 'decide-again' | 'fatal'

export function meaningOf(error: unknown): Meaning {
  if (!(error instanceof KvupError)) return 'fatal'
  if (error.sought !== undefined) return 'retry'
  if (!(error instanceof ApiError)) return error.exitCode === exitCode.unreachable ? 'retry' : 'fatal'
  if (error.status === 401) return 'login'
  if (error.status === 409 || error.status === 422) return 'decide-again'
  return error.status === 410 || error.exitCode === exitCode.unreachable ? 'retry' : 'fatal'
}

/** What a person reads while the run goes on in spite of it. */
export function remarkOn(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  if (meaningOf(error) === 'login')
    return `the cluster does not accept our credentials any more (${why}): log in again in another terminal, this run goes on by itself then`
  return `the cluster does not answer as it should, trying again: ${why}`
}
