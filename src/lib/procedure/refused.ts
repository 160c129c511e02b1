import { readRefusal } from '../cluster/refusal.ts'
import { ApiError } from '../system/errors.ts'

/** Commands that show why the server refused a write: its own remedy, else what its words name. */
export function remedyOf(failure: unknown): readonly string[] {
  if (!(failure instanceof ApiError)) return []
  if (failure.remedy.length > 0) return failure.remedy
  const namespace = /in namespace (\S+)/.exec(failure.object ?? '')?.[1] ?? 'default'
  return readRefusal(failure.message, namespace)?.look ?? []
}

/** The same failure with what helps against it. */
export function withRemedy(failure: unknown): unknown {
  const remedy = remedyOf(failure)
  if (!(failure instanceof ApiError) || remedy.length === 0) return failure
  const { status, statusReason, message, object, notes } = failure
  return new ApiError(status, statusReason, message, { object, notes, remedy, cause: failure })
}
