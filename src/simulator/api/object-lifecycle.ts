import type { KubeObject } from '../../lib/kube/object.ts'
import { copy, same, sameBut } from './json.ts'
import { badRequest, conflict, type FieldError, invalid, modified, unconditional } from './api-refusal.ts'
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
  // The server's own metadata leaves empty maps out, and who owned them owns nothing there.
  for (const field of ['annotations', 'labels'] as const)
    if (Object.keys(metadata[field] ?? {}).length === 0) delete metadata[field]
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
  if (kind.generation === 'object') return !sameBut(['metadata'], before, after)
  const specs = !sameBut(['metadata', 'status'], before, after)
  if (kind.generation !== 'spec-and-annotations') return specs
  return specs || !same(before.metadata.annotations ?? {}, after.metadata.annotations ?? {})
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

const labelErrors = ({ metadata }: KubeObject): FieldError[] =>
  Object.values(metadata.labels ?? {})
    .filter((value) => typeof value !== 'string' || value.length > 63 || !labelValue.test(value))
    .map((value) => ({
      field: 'metadata.labels',
      reason: 'FieldValueInvalid' as const,
      message: `Invalid value: "${value}": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    }))

/** The status of an apply to the main resource is nobody's, and the rest of one to the status subresource. */
export function ownHalf(kind: SimKind, given: KubeObject, on: Write['on']): KubeObject {
  const { apiVersion, metadata, status, ...spec } = copy(given) as KubeObject & { status?: unknown }
  if (!kind.status) return { ...spec, apiVersion, metadata, ...(status !== undefined && { status }) }
  if (on !== 'status') return { ...spec, apiVersion, metadata }
  const { name, namespace } = metadata
  const nameFields = { name, ...(namespace !== undefined && { namespace }) }
  return { apiVersion, kind: kind.kind, metadata: nameFields, ...(status !== undefined && { status }) }
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
export const nameSuffix = (random: () => number): string =>
  Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)]).join('')

const hexDigits = '0123456789abcdef'

/** Names and uids that look like the API server's and are the same in every run. */
export class Identity {
  readonly #next: () => number

  constructor(seed = 0x6b767570) {
    this.#next = seeded(seed)
  }

  /** An RFC 4122 version 4 uid. */
  uid(): string {
    let drawn = ''
    for (let i = 0; i < 32; i++) drawn += hexDigits[Math.floor(this.#next() * 16)]
    const variant = '89ab'[Math.floor(this.#next() * 4)]
    const hex = `${drawn.slice(0, 12)}4${drawn.slice(13, 16)}${variant}${drawn.slice(17)}`
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
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

/** How objects go: finalizers, terminating pods and namespaces, and the garbage collector of ownerReferences. */
export class Deletion {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Removes, or marks as deleted what has to wait. */
  delete(kind: SimKind, object: KubeObject, now = false): KubeObject {
    const linger = now ? 0 : this.#linger(kind, object)
    const waits = hasFinalizers(object) || linger > 0 || this.#isFullNamespace(kind, object)
    if (!waits) return this.#gone(kind, object)
    const marked = object.metadata.deletionTimestamp === undefined ? this.#mark(kind, object, linger) : object
    if (kind.kind === 'Namespace') this.#empty(object.metadata.name)
    return marked
  }

  /** To be called after every write: an object whose last finalizer went is removed. */
  afterWrite(kind: SimKind, before: KubeObject, object: KubeObject): void {
    if (object.metadata.deletionTimestamp === undefined || hasFinalizers(object) || !hasFinalizers(before))
      return
    if (!this.#isFullNamespace(kind, object)) this.#gone(kind, object)
  }

  orphan(owner: KubeObject): void {
    for (const { kind, object } of this.#dependents(owner)) this.#withoutOwner(kind, object, owner)
  }

  #gone(kind: SimKind, object: KubeObject): KubeObject {
    const gone = this.#parts.table.drop(kind, object)
    for (const dependent of this.#dependents(object)) {
      const { table } = this.#parts
      const others = dependent.object.metadata.ownerReferences?.some((o) => table.exists(o.uid)) === true
      if (others) this.#withoutOwner(dependent.kind, dependent.object, object)
      else this.delete(dependent.kind, dependent.object)
    }
    this.#closeNamespace(object.metadata.namespace)
    return gone
  }

  #dependents(owner: KubeObject): { kind: SimKind; object: KubeObject }[] {
    const { table, kinds } = this.#parts
    const { uid } = owner.metadata
    if (uid === undefined) return []
    return kinds.all().flatMap((kind) => table.ownedBy(kind, uid).map((object) => ({ kind, object })))
  }

  #withoutOwner(kind: SimKind, object: KubeObject, owner: KubeObject): void {
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
    const phase = kind.kind === 'Namespace' ? { status: { phase: 'Terminating' } } : {}
    const marked = this.#parts.table.keep(kind, { ...object, metadata, ...phase })
    if (linger > 0) void this.#endPod(kind, marked, linger)
    return marked
  }

  async #endPod(kind: SimKind, pod: KubeObject, linger: number): Promise<void> {
    await this.#parts.clock.sleep(linger)
    const now = this.#parts.table.find(kind, pod.metadata)
    if (now?.metadata.uid === pod.metadata.uid && now && !hasFinalizers(now)) this.#gone(kind, now)
  }

  #inNamespace(name: string): { kind: SimKind; object: KubeObject }[] {
    const { table, kinds } = this.#parts
    return kinds
      .all()
      .filter((kind) => kind.namespaced)
      .flatMap((kind) => table.inNamespace(kind, name).map((object) => ({ kind, object })))
  }

  #isFullNamespace(kind: SimKind, object: KubeObject): boolean {
    return kind.kind === 'Namespace' && this.#inNamespace(object.metadata.name).length > 0
  }

  #empty(namespace: string): void {
    for (const { kind, object } of this.#inNamespace(namespace)) {
      if (this.#parts.table.find(kind, object.metadata)) this.delete(kind, object)
    }
  }

  #closeNamespace(name: string | undefined): void {
    const kind = this.#parts.kinds.find({ apiVersion: 'v1', plural: 'namespaces' })
    if (!kind || name === undefined) return
    const namespace = this.#parts.table.find(kind, { name })
    if (namespace?.metadata.deletionTimestamp !== undefined && !this.#isFullNamespace(kind, namespace))
      this.#gone(kind, namespace)
  }
}

const hasFinalizers = (object: KubeObject): boolean => (object.metadata.finalizers ?? []).length > 0
