import { ApiError } from '../../lib/kube/errors.ts'
import { groupOf, type Kind, type KubeObject, resourceOf } from '../../lib/kube/object.ts'
import type { Json } from './json.ts'

interface Cause {
  reason: string
  message: string
  field: string
}

/** An answer that is a failure: an ApiError that knows its `metav1.Status` body. */
export class Refusal extends ApiError {
  readonly body: Json
  /** Seconds of a Retry-After header. */
  readonly retryAfter: number | undefined

  constructor(code: number, reason: string, message: string, more: { details?: Json; metadata?: Json } = {}) {
    super(code, reason, message)
    this.retryAfter = more.details?.['retryAfterSeconds'] as number | undefined
    this.body = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: more.metadata ?? {},
      status: 'Failure',
      message,
      ...(reason !== '' && { reason }),
      ...(more.details && { details: more.details }),
      code,
    }
  }
}

type Resource = Pick<Kind, 'apiVersion' | 'plural'>

function details(kind: Resource, name: string, causes?: readonly Cause[]): Json {
  const group = groupOf(kind)
  const byName = name === '' ? {} : { name }
  return { ...byName, ...(group !== '' && { group }), kind: kind.plural, ...(causes && { causes }) }
}

export const notFound = (kind: Resource, name: string): Refusal =>
  new Refusal(404, 'NotFound', `${resourceOf(kind)} "${name}" not found`, { details: details(kind, name) })

/** The answer for a path that nothing serves. */
export const unserved = (): Refusal =>
  new Refusal(404, 'NotFound', 'the server could not find the requested resource', { details: {} })

export const alreadyExists = (kind: Resource, name: string): Refusal =>
  new Refusal(409, 'AlreadyExists', `${resourceOf(kind)} "${name}" already exists`, {
    details: details(kind, name),
  })

export const conflict = (kind: Resource, name: string, why: string): Refusal =>
  new Refusal(409, 'Conflict', `Operation cannot be fulfilled on ${resourceOf(kind)} "${name}": ${why}`, {
    details: details(kind, name),
  })

export const modified = (kind: Resource, name: string): Refusal =>
  conflict(
    kind,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )

/** A field that validation did not like, in the API server's words: `spec.replicas: Invalid value: -1: must be …`. */
export interface FieldError {
  field: string
  reason: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueForbidden'
  message: string
}

export function invalid(kind: Kind, name: string, errors: readonly FieldError[]): Refusal {
  const lines = errors.map((e) => `${e.field}: ${e.message}`)
  const said = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`
  return new Refusal(422, 'Invalid', `${named(kind)} "${name}" is invalid: ${said}`, {
    details: { ...details(kind, name, errors), kind: kind.kind },
  })
}

/** An update of a custom kind that does not say which version it is made from. */
export function unconditional(kind: Kind, name: string): Refusal {
  const message = 'Invalid value: 0: must be specified for an update'
  const cause = { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message }
  return new Refusal(422, 'Invalid', `${resourceOf(kind)} "${name}" is invalid: ${cause.field}: ${message}`, {
    details: details(kind, name, [cause]),
  })
}

/** `KubeVirt.kubevirt.io`, `ConfigMap`. */
function named(kind: Kind): string {
  const group = groupOf(kind)
  return group === '' ? kind.kind : `${kind.kind}.${group}`
}

/** Throws 409 when the object is not the one that was looked at. */
export function requirePrecondition(
  kind: Kind,
  { metadata }: KubeObject,
  only: { uid?: string | undefined; resourceVersion?: string | undefined } = {},
): void {
  const refuse = (what: string, asked: string, found: string | undefined) =>
    conflict(
      kind,
      metadata.name,
      `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found}). The object might have been deleted and then recreated`,
    )
  if (only.uid !== undefined && only.uid !== metadata.uid) throw refuse('UID', only.uid, metadata.uid)
  if (only.resourceVersion !== undefined && only.resourceVersion !== metadata.resourceVersion)
    throw refuse('ResourceVersion', only.resourceVersion, metadata.resourceVersion)
}

export const unprocessable = (): Refusal =>
  new Refusal(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    details: {},
  })

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message)

export const unsupportedBody = (accepted: readonly string[]): Refusal =>
  new Refusal(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )

export const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    details: {},
  })

/** 410 of a watch that starts before what is remembered. */
export const tooOld = (asked: number, oldest: number): Refusal =>
  new Refusal(410, 'Expired', `too old resource version: ${asked} (${oldest})`)

export function expiredToken(next: string): Refusal {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
    'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - ' +
    'objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'
  return new Refusal(410, 'Expired', message, { metadata: { continue: next } })
}

export const unauthorized = (): Refusal => new Refusal(401, 'Unauthorized', 'Unauthorized')

export const tooManyRequests = (seconds: number): Refusal =>
  new Refusal(429, 'TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds: seconds },
  })

export const internalError = (why: string): Refusal =>
  new Refusal(500, 'InternalError', `Internal error occurred: ${why}`, {
    details: { causes: [{ message: why }] },
  })

export const forbiddenTo = (kind: Resource, name: string, why: string): Refusal =>
  new Refusal(
    403,
    'Forbidden',
    `${resourceOf(kind)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
    {
      details: details(kind, name),
    },
  )

/** The apply conflict of server-side apply, with the managers in the causes. */
export const applyConflict = (causes: readonly Cause[], message: string): Refusal =>
  new Refusal(409, 'Conflict', message, { details: { causes } })

export const noFieldManager = (): Refusal =>
  new Refusal(
    422,
    'Invalid',
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    { details: { group: 'meta.k8s.io', kind: 'PatchOptions' } },
  )

/** In the words of pods/binding. */
export const alreadyBound = (pod: string, node: string): Refusal =>
  new Refusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on pods/binding "${pod}": pod ${pod} is already assigned to node "${node}"`,
  )
