import { ApiError } from '../../lib/kube/errors.ts'
import { groupOf, type Kind, type KubeObject, resourceOf } from '../../lib/kube/object.ts'
import type { Json } from './json.ts'

interface More {
  details?: Json
  metadata?: Json
}

/** An answer that is a failure: an ApiError that knows its `metav1.Status` body. */
export class Refusal extends ApiError {
  readonly body: Json
  /** Seconds of a Retry-After header. */
  readonly retryAfter: number | undefined

  constructor(code: number, reason: string, message: string, { details, metadata = {} }: More = {}) {
    super(code, reason, message)
    this.retryAfter = details?.['retryAfterSeconds'] as number | undefined
    this.body = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      ...(reason !== '' && { reason }),
      ...(details && { details }),
      code,
    }
  }
}

type Resource = Pick<Kind, 'apiVersion' | 'plural'>

interface Cause {
  reason: string
  message: string
  field: string
}

/** A failure that names its object: `kubevirts.kubevirt.io "kubevirt" not found`. */
function about(kind: Resource, name: string, causes?: readonly Cause[]) {
  const group = groupOf(kind)
  const details = {
    ...(name !== '' && { name }),
    ...(group !== '' && { group }),
    kind: kind.plural,
    ...(causes && { causes }),
  }
  const subject = name === '' ? resourceOf(kind) : `${resourceOf(kind)} "${name}"`
  return { subject, more: { details } }
}

export function notFound(kind: Resource, name: string): Refusal {
  const { subject, more } = about(kind, name)
  return new Refusal(404, 'NotFound', `${subject} not found`, more)
}

/** The answer for a path that nothing serves. */
export const unserved = (): Refusal =>
  new Refusal(404, 'NotFound', 'the server could not find the requested resource', { details: {} })

export function alreadyExists(kind: Resource, name: string): Refusal {
  const { subject, more } = about(kind, name)
  return new Refusal(409, 'AlreadyExists', `${subject} already exists`, more)
}

export function conflict(kind: Resource, name: string, why: string): Refusal {
  const { subject, more } = about(kind, name)
  return new Refusal(409, 'Conflict', `Operation cannot be fulfilled on ${subject}: ${why}`, more)
}

/** A field that validation did not like, in the API server's words: `spec.replicas: Invalid value: -1: must be …`. */
export interface FieldError {
  field: string
  reason: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueForbidden'
  message: string
}

export function invalid(kind: Kind, name: string, errors: readonly FieldError[]): Refusal {
  const group = groupOf(kind)
  const lines = errors.map((e) => `${e.field}: ${e.message}`)
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`
  const subject = group === '' ? kind.kind : `${kind.kind}.${group}`
  const { details } = about(kind, name, errors).more
  return new Refusal(422, 'Invalid', `${subject} "${name}" is invalid: ${text}`, {
    details: { ...details, kind: kind.kind },
  })
}

/** An update of a custom kind that does not say which version it is made from. */
export function unconditional(kind: Kind, name: string): Refusal {
  const message = 'Invalid value: 0: must be specified for an update'
  const cause = { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message }
  const { subject, more } = about(kind, name, [cause])
  return new Refusal(422, 'Invalid', `${subject} is invalid: ${cause.field}: ${message}`, more)
}

/** Throws 409 when the object is not the one that was looked at. */
export function requirePrecondition(
  kind: Kind,
  { metadata }: KubeObject,
  only: { uid?: string | undefined; resourceVersion?: string | undefined } = {},
): void {
  for (const [what, asked, found] of [
    ['UID', only.uid, metadata.uid],
    ['ResourceVersion', only.resourceVersion, metadata.resourceVersion],
  ])
    if (asked !== undefined && asked !== found)
      throw conflict(
        kind,
        metadata.name,
        `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found}). The object might have been deleted and then recreated`,
      )
}

export const unprocessable = (): Refusal =>
  new Refusal(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    details: {},
  })

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message)

export function unsupportedBody(accepted: readonly string[]): Refusal {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return new Refusal(415, 'UnsupportedMediaType', message)
}

export const unauthorized = (): Refusal => new Refusal(401, 'Unauthorized', 'Unauthorized')

export const internalError = (why: string): Refusal =>
  new Refusal(500, 'InternalError', `Internal error occurred: ${why}`, {
    details: { causes: [{ message: why }] },
  })

export function forbiddenTo(kind: Resource, name: string, why: string): Refusal {
  const { subject, more } = about(kind, name)
  return new Refusal(403, 'Forbidden', `${subject} is forbidden: ${why}`, more)
}
