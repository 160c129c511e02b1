import { ApiError } from '../../../system/errors.ts'
import { copy, type Json } from '../json.ts'
import { internalError, Refusal } from '../refusal.ts'

export interface Answer {
  readonly status: number
  /** Text goes out as it is. */
  readonly body: object | string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export const ok = (body: object | string, type?: string): Answer => ({
  status: 200,
  body,
  ...(type !== undefined && { type }),
})

/** The `metav1.Status` of a failure; what was not foreseen is a 500 with its message. */
export function failure(error: unknown): Answer {
  const refusal =
    error instanceof Refusal
      ? error
      : error instanceof ApiError
        ? new Refusal(error.status, error.statusReason, error.message)
        : internalError(error instanceof Error ? error.message : String(error))
  const headers = refusal.retryAfter === undefined ? {} : { 'retry-after': String(refusal.retryAfter) }
  return { status: refusal.status, body: refusal.body, headers }
}

/** `metav1.Status` of a success, as DELETE answers. */
export function success(details: Json): Json {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: copy(details) }
}
