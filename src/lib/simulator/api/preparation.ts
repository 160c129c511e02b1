import type { KubeObject } from '../../cluster/object.ts'
import { copy, same } from './json.ts'
import type { Identity } from './identity.ts'
import { badRequest, conflict, type FieldError, invalid, modified, unconditional } from './refusal.ts'
import type { SimKind } from './sim-kind.ts'

/** RFC 3339 to the second, as metadata has it. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}

/** What the server makes of an object that is created: name, uid, times, generation, no status. */
export function prepareCreate(
  kind: SimKind,
  given: KubeObject,
  { identity, now }: { identity: Identity; now: Date },
): KubeObject {
  const object = withStatusOf(kind, copy(given), undefined)
  const { generateName, name } = object.metadata
  object.apiVersion = kind.apiVersion
  object.kind = kind.kind
  object.metadata.name = name !== undefined && name !== '' ? name : named(kind, generateName, identity)
  object.metadata.uid = identity.uid()
  object.metadata.creationTimestamp = timestamp(now)
  delete object.metadata.resourceVersion
  delete object.metadata.deletionTimestamp
  if (kind.generation === 'none') delete object.metadata.generation
  else object.metadata.generation = 1
  kind.defaults?.(object)
  return object
}

function named(kind: SimKind, prefix: string | undefined, identity: Identity): string {
  if (prefix !== undefined && prefix !== '') return prefix + identity.suffix()
  throw invalid(kind, '', [
    {
      field: 'metadata.name',
      reason: 'FieldValueRequired',
      message: 'Required value: name or generateName is required',
    },
  ])
}

/** To fill defaults in. Its managedFields are the store's, which knows what stands in them only while they are the same. */
function ownCopy(given: KubeObject): KubeObject {
  const { managedFields, ...metadata } = given.metadata
  const own: KubeObject = copy({ ...given, metadata })
  if (managedFields) own.metadata.managedFields = managedFields
  return own
}

/** What the server keeps of its own when an object is written over: identity, generation, the other half's fields. */
export function prepareUpdate(
  kind: SimKind,
  before: KubeObject,
  given: KubeObject,
  on: 'status' | undefined,
): KubeObject {
  refuseStale(kind, before, given)
  const object =
    on === 'status'
      ? statusOnly(before, given)
      : withStatusOf(kind, kind.defaults ? ownCopy(given) : { ...given }, before)
  object.apiVersion = kind.apiVersion
  object.kind = kind.kind
  object.metadata = { ...object.metadata }
  const { metadata } = object
  metadata.name = before.metadata.name
  for (const field of [
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'generation',
    'resourceVersion',
    'deletionGracePeriodSeconds',
  ] as const)
    keep(metadata, before.metadata, field)
  if (on !== 'status') kind.defaults?.(object)
  if (on !== 'status' && metadata.generation !== undefined && specChanged(kind, before, object))
    metadata.generation++
  return object
}

function keep<K extends keyof KubeObject['metadata']>(
  into: KubeObject['metadata'],
  from: KubeObject['metadata'],
  field: K,
): void {
  const value = from[field]
  if (value === undefined) delete into[field]
  else into[field] = value
}

function refuseStale(kind: SimKind, before: KubeObject, given: KubeObject): void {
  const { name } = before.metadata
  const { resourceVersion, uid, name: givenName } = given.metadata
  if (!kind.builtIn && resourceVersion === undefined) throw unconditional(kind, name)
  if (givenName !== name)
    throw badRequest(`the name of the object (${givenName}) does not match the name on the URL (${name})`)
  if (
    resourceVersion !== undefined &&
    resourceVersion !== '' &&
    resourceVersion !== before.metadata.resourceVersion
  )
    throw modified(kind, name)
  if (uid !== undefined && uid !== before.metadata.uid)
    throw conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
    )
}

/** A patch that carries another uid is 422; an update with one is 409. */
export function requireSameUid(
  kind: SimKind,
  before: KubeObject,
  { metadata: { name, uid } }: KubeObject,
): void {
  if (uid === undefined || uid === before.metadata.uid) return
  const message = `Invalid value: "${uid}": field is immutable`
  throw invalid(kind, name, [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message }])
}

type Statused = KubeObject & { status?: unknown }

/** The main resource never writes status where status has a subresource of its own. */
function withStatusOf(kind: SimKind, object: Statused, before: Statused | undefined): KubeObject {
  if (!kind.status) return object
  if (before?.status === undefined) delete object.status
  else object.status = before.status
  return object
}

/** The status subresource writes nothing else. */
function statusOnly(before: Statused, given: Statused): KubeObject {
  const object: Statused = { ...before, metadata: { ...before.metadata } }
  if (given.metadata.managedFields) object.metadata.managedFields = given.metadata.managedFields
  if (given.status === undefined) delete object.status
  else object.status = given.status
  return object
}

function specChanged(kind: SimKind, before: KubeObject, after: KubeObject): boolean {
  if (kind.generation === 'object') return !same(rest(before), rest(after))
  const specs = !same(withoutStatus(rest(before)), withoutStatus(rest(after)))
  if (kind.generation !== 'spec-and-annotations') return specs
  return specs || !same(before.metadata.annotations ?? {}, after.metadata.annotations ?? {})
}

function rest(object: KubeObject): Record<string, unknown> {
  return { ...object, metadata: undefined }
}

function withoutStatus(object: Record<string, unknown>): Record<string, unknown> {
  return { ...object, status: undefined }
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const rbacName = /^[^/%]+$/
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/

/** Throws 422 with every field that is wrong. */
export function validate(kind: SimKind, object: KubeObject, before: KubeObject | undefined): void {
  const errors = [
    ...nameErrors(kind, object),
    ...labelErrors(object),
    ...(kind.validate?.(object, before) ?? []),
  ]
  if (errors.length > 0) throw invalid(kind, object.metadata.name, errors)
}

function nameErrors(kind: SimKind, { metadata: { name } }: KubeObject): FieldError[] {
  const allowed = kind.apiVersion.startsWith('rbac.') ? rbacName : subdomain
  if (allowed.test(name) && name.length <= 253) return []
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
  return [
    { field: 'metadata.name', reason: 'FieldValueInvalid', message: `Invalid value: "${name}": ${rule}` },
  ]
}

function labelErrors({ metadata }: KubeObject): FieldError[] {
  return Object.values(metadata.labels ?? {})
    .filter((value) => typeof value !== 'string' || value.length > 63 || !labelValue.test(value))
    .map((value) => ({
      field: 'metadata.labels',
      reason: 'FieldValueInvalid' as const,
      message: `Invalid value: "${value}": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    }))
}
