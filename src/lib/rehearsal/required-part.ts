import { blocked, usageError } from '../kube/errors.ts'
import type { Known } from '../kube/known.ts'

/** What a twin cannot be made without. Throws `usage` where a saved cluster does not hold it, `blocked` where it may not be read. */
export function requirePart<T>(what: string, part: Known<T>): readonly T[] {
  if (part.known) return part.items
  const message = `kvup cannot rehearse without ${what}: ${part.why}`
  if (/ does not contain /u.test(part.why))
    throw usageError('not-saved', message, {
      remedy: 'kvup snapshot --to-file cluster.ndjson.gz     saves everything that a rehearsal needs',
    })
  throw blocked('not-readable', message)
}
