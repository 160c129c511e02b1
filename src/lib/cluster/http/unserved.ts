import type { ApiError } from '../../system/errors.ts'

/** The `statusReason` that an ApiError carries when the server does not know the kind at all. */
export const unserved = 'Unserved'

export function isUnserved(error: ApiError): boolean {
  return error.status === 404 && error.statusReason === unserved
}
