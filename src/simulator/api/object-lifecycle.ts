import type { KubeObject } from '../../lib/kube/object.ts'
import { copy, type Json, same, sameBut } from './json.ts'
import { badRequest, conflict, type FieldError, invalid, unconditional } from './api-refusal.ts'
import type { KindRegistry, SimKind } from './kinds/sim-kind.ts'
import type { Write } from './store.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import type { ObjectTable } from './etcd.ts'

/** RFC 3339 to the second, as metadata has it. */
export const timestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`

/** What the server makes of an object that is created: name, uid, times, generation, no status. */
export function prepareCreate(
  kind: SimKind,
  given: KubeObject,
  { identity, now }: { identity: Identity; now: Date },
): KubeObject {
  const object = withStatusOf(kind, copy(given), undefined)
  const { metadata } = object
  object.apiVersion = kind.apiVersion
  object.kind = kind.kind
  metadata.name ||= generated(kind, metadata.generateName, identity)
  metadata.uid = identity.uid()
  metadata.creationTimestamp = timestamp(now)
  delete metadata.resourceVersion
  delete metadata.deletionTimestamp
  if (kind.generation === 'none') delete metadata.generation
  else metadata.generation = 1
  kind.defaults?.(object)
  return object
}

function generated(kind: SimKind, prefix: string | undefined, identity: Identity): string {
  if (prefix) return prefix + identity.suffix()
  const message = 'Required value: name or generateName is required'
  throw invalid(kind, '', [{ field: 'metadata.name', reason: 'FieldValueRequired', message }])
}

/** What no writer changes in metadata. */
const fixed =
  'name namespace uid creationTimestamp deletionTimestamp generation resourceVersion deletionGracePeriodSeconds'
const fixedFields = fixed.split(' ') as (keyof KubeObject['metadata'])[]

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
  const metadata = { ...object.metadata }
  object.metadata = metadata
  for (const field of fixedFields)
    if (before.metadata[field] !== undefined) (metadata as Json)[field] = before.metadata[field]
    else if (field in metadata) Reflect.deleteProperty(metadata, field)
  // The server's own metadata leaves empty maps out, and who owned them owns nothing there.
  for (const field of ['annotations', 'labels'] as const)
    if (Object.keys(metadata[field] ?? {}).length === 0) delete metadata[field]
  if (on === 'status') return object
  kind.defaults?.(object)
  if (metadata.generation !== undefined && specChanged(kind, before, object)) metadata.generation++
  return object
}

/** To fill defaults in. Its managedFields are the store's, which knows what stands in them only while they are the same. */
function ownCopy(given: KubeObject): KubeObject {
  const { managedFields, ...metadata } = given.metadata
  const own: KubeObject = copy({ ...given, metadata })
  if (managedFields) own.metadata.managedFields = managedFields
  return own
}

function refuseStale(kind: SimKind, before: KubeObject, given: KubeObject): void {
  const { name } = before.metadata
  const { resourceVersion, uid, name: givenName } = given.metadata
  if (!kind.builtIn && resourceVersion === undefined) throw unconditional(kind, name)
  if (givenName !== name)
    throw badRequest(`the name of the object (${givenName}) does not match the name on the URL (${name})`)
  if (resourceVersion && resourceVersion !== before.metadata.resourceVersion)
    throw conflict(
      kind,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    )
  if (uid !== undefined && uid !== before.metadata.uid)
    throw conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
    )
}

/** A patch that carries another uid is 422; an update with one is 409. */
export function requireSameUid(kind: SimKind, before: KubeObject, { metadata }: KubeObject): void {
  const { name, uid } = metadata
  if (uid === undefined || uid === before.metadata.uid) return
  const message = `Invalid value: "${uid}": field is immutable`
  throw invalid(kind, name, [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message }])
}

type Statused = KubeObject & { status?: unknown }

/** The main resource never writes status where status has a subresource of its own. */
const withStatusOf = (kind: SimKind, object: Statused, before: Statused | undefined): KubeObject =>
  kind.status ? withStatus(object, before?.status) : object

function withStatus(object: Statused, status: unknown): KubeObject {
  if (status === undefined) delete object.status
  else object.status = status
  return object
}

/** The status subresource writes nothing else. */
function statusOnly(before: Statused, given: Statused): KubeObject {
  const { managedFields = before.metadata.managedFields } = given.metadata
  const metadata = { ...before.metadata, ...(managedFields && { managedFields }) }
  return withStatus({ ...before, metadata }, given.status)
}

function specChanged(kind: SimKind, before: KubeObject, after: KubeObject): boolean {
  if (kind.generation === 'object') return !sameBut(['metadata'], before, after)
  if (!sameBut(['metadata', 'status'], before, after)) return true
  if (kind.generation !== 'spec-and-annotations') return false
  return !same(before.metadata.annotations ?? {}, after.metadata.annotations ?? {})
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const rbacName = /^[^/%]+$/
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const nameRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const labelRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/** Throws 422 with every field that is wrong. */
export function validate(kind: SimKind, object: KubeObject, before: KubeObject | undefined): void {
  const { name, labels = {} } = object.metadata
  const errors: FieldError[] = []
  const wrong = (field: string, value: string, rule: string) =>
    errors.push({ field, reason: 'FieldValueInvalid', message: `Invalid value: "${value}": ${rule}` })
  const allowed = kind.apiVersion.startsWith('rbac.') ? rbacName : subdomain
  if (!allowed.test(name) || name.length > 253) wrong('metadata.name', name, nameRule)
  for (const value of Object.values(labels))
    if (typeof value !== 'string' || value.length > 63 || !labelValue.test(value))
      wrong('metadata.labels', value, labelRule)
  errors.push(...(kind.validate?.(object, before) ?? []))
  if (errors.length > 0) throw invalid(kind, name, errors)
}

/** The status of an apply to the main resource is nobody's, and the rest of one to the status subresource. */
export function ownHalf(kind: SimKind, given: KubeObject, on: Write['on']): KubeObject {
  const { apiVersion, metadata, status, ...spec } = copy(given) as Statused
  const statusField = status === undefined ? {} : { status }
  if (!kind.status) return { ...spec, apiVersion, metadata, ...statusField }
  if (on !== 'status') return { ...spec, apiVersion, metadata }
  const { name, namespace } = metadata
  return {
    apiVersion,
    kind: kind.kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    ...statusField,
  }
}

/** The same numbers between 0 and 1 for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** Five letters, as the API server appends them to `generateName`. */
export const nameSuffix = (random: () => number): string => drawn(5, letters, random)

const hexDigits = '0123456789abcdef'

function drawn(length: number, from: string, random: () => number): string {
  let text = ''
  for (let i = 0; i < length; i++) text += from[Math.floor(random() * from.length)]
  return text
}

/** Names and uids that look like the API server's and are the same in every run. */
export class Identity {
  readonly #next: () => number

  constructor(seed = 0x6b767570) {
    this.#next = seeded(seed)
  }

  /** An RFC 4122 version 4 uid. */
  uid(): string {
    const hex = drawn(32, hexDigits, this.#next)
    const variant = drawn(1, '89ab', this.#next)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
  }

  /** The five characters behind a generateName. */
  suffix(): string {
    return nameSuffix(this.#next)
  }
}

interface Parts {
  readonly table: ObjectTable
  readonly kinds: KindRegistry
  readonly clock: Clock
  /** How long a pod on a node stays Terminating, in ms. */
  readonly podTermination: number
}

interface Stored {
  readonly kind: SimKind
  readonly object: KubeObject
}

const namespaces = { apiVersion: 'v1', plural: 'namespaces' }

/** How objects go: finalizers, terminating pods and namespaces, and the garbage collector of ownerReferences. */
export class Deletion {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Removes, or marks as deleted what has to wait. */
  delete(kind: SimKind, object: KubeObject, now = false): KubeObject {
    const linger = now ? 0 : this.#linger(kind, object)
    if (!hasFinalizers(object) && linger === 0 && !this.#isFullNamespace(kind, object))
      return this.#gone(kind, object)
    const marked = object.metadata.deletionTimestamp === undefined ? this.#mark(kind, object, linger) : object
    if (kind.kind === 'Namespace')
      for (const inside of this.#inNamespace(object.metadata.name))
        if (this.#parts.table.find(inside.kind, inside.object.metadata))
          this.delete(inside.kind, inside.object)
    return marked
  }

  /** To be called after every write: an object whose last finalizer went is removed. */
  afterWrite(kind: SimKind, before: KubeObject, object: KubeObject): void {
    const isMarked = object.metadata.deletionTimestamp !== undefined
    if (!isMarked || hasFinalizers(object) || !hasFinalizers(before)) return
    if (!this.#isFullNamespace(kind, object)) this.#gone(kind, object)
  }

  orphan(owner: KubeObject): void {
    for (const dependent of this.#dependents(owner)) this.#withoutOwner(dependent, owner)
  }

  #gone(kind: SimKind, object: KubeObject): KubeObject {
    const { table } = this.#parts
    const gone = table.drop(kind, object)
    for (const dependent of this.#dependents(object))
      if (dependent.object.metadata.ownerReferences?.some(({ uid }) => table.exists(uid)))
        this.#withoutOwner(dependent, object)
      else this.delete(dependent.kind, dependent.object)
    this.#closeNamespace(object.metadata.namespace)
    return gone
  }

  #dependents({ metadata: { uid } }: KubeObject): Stored[] {
    if (uid === undefined) return []
    return this.#all((kind) => this.#parts.table.ownedBy(kind, uid))
  }

  #inNamespace(name: string): Stored[] {
    return this.#all((kind) => (kind.namespaced ? this.#parts.table.inNamespace(kind, name) : []))
  }

  #all(objectsOf: (kind: SimKind) => KubeObject[]): Stored[] {
    return this.#parts.kinds.all().flatMap((kind) => objectsOf(kind).map((object) => ({ kind, object })))
  }

  #withoutOwner({ kind, object }: Stored, owner: KubeObject): void {
    const ownerReferences = object.metadata.ownerReferences?.filter((o) => o.uid !== owner.metadata.uid) ?? []
    this.#parts.table.keep(kind, { ...object, metadata: { ...object.metadata, ownerReferences } })
  }

  #linger(kind: SimKind, object: KubeObject): number {
    const pod = object as KubeObject & { spec?: { nodeName?: string }; status?: { phase?: string } }
    if (kind.kind !== 'Pod' || pod.spec?.nodeName === undefined) return 0
    return ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '') ? 0 : this.#parts.podTermination
  }

  #mark(kind: SimKind, object: KubeObject, linger: number): KubeObject {
    const { generation } = object.metadata
    const metadata = {
      ...object.metadata,
      deletionTimestamp: timestamp(this.#parts.clock.now()),
      deletionGracePeriodSeconds: linger > 0 ? 30 : 0,
      ...(generation !== undefined && { generation: generation + 1 }),
    }
    const phase: Json = kind.kind === 'Namespace' ? { status: { phase: 'Terminating' } } : {}
    const marked = this.#parts.table.keep(kind, { ...object, metadata, ...phase })
    if (linger > 0) void this.#endPod(kind, marked, linger)
    return marked
  }

  async #endPod(kind: SimKind, pod: KubeObject, linger: number): Promise<void> {
    await this.#parts.clock.sleep(linger)
    const now = this.#parts.table.find(kind, pod.metadata)
    if (now?.metadata.uid === pod.metadata.uid && now && !hasFinalizers(now)) this.#gone(kind, now)
  }

  #isFullNamespace(kind: SimKind, object: KubeObject): boolean {
    return kind.kind === 'Namespace' && this.#inNamespace(object.metadata.name).length > 0
  }

  #closeNamespace(name: string | undefined): void {
    const kind = this.#parts.kinds.find(namespaces)
    const namespace = kind && name !== undefined ? this.#parts.table.find(kind, { name }) : undefined
    if (kind && namespace?.metadata.deletionTimestamp && !this.#isFullNamespace(kind, namespace))
      this.#gone(kind, namespace)
  }
}

const hasFinalizers = (object: KubeObject): boolean => (object.metadata.finalizers ?? []).length > 0
