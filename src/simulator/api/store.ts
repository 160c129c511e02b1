import type { ServerVersion } from '../../lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { CustomResourceDefinitions } from '../../lib/kube/kinds/extension-kinds.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import type { AuditRecord } from './api-request.ts'
import { builtInKinds } from './kinds/built-in-kinds.ts'
import { serveDefinition, unserveDefinition } from './kinds/custom-kinds.ts'
import {
  Deletion,
  Identity,
  ownHalf,
  prepareCreate,
  prepareUpdate,
  requireSameUid,
  timestamp,
  validate,
} from './object-lifecycle.ts'
import {
  everything,
  labelSelected,
  ListSnapshots,
  nameSelected,
  type PageOf,
  selection,
} from './list-options.ts'
import { History, inVersion, type ObjectRef, ObjectTable, type StoreEvent } from './etcd.ts'
import { at, copy, same, sameBut } from './json.ts'
import { KindRegistry, type SimKind, storageKey } from './kinds/sim-kind.ts'
import { afterUpdate, type FieldWriter } from './managed-fields.ts'
import { type Patch, patched } from './patch.ts'
import { alreadyExists, badRequest, notFound, requirePrecondition, unserved } from './api-refusal.ts'
import { applied } from './server-side-apply.ts'
import type { SubresourceHook } from './subresources.ts'

export interface StoreOptions {
  readonly kinds?: readonly SimKind[]
  readonly version?: ServerVersion
  /** How many changes per resource a watch may resume over; a lean store keeps none by itself. */
  readonly history?: number
  /** How long a pod on a node stays Terminating, in ms of the clock. 0: it is gone at once. */
  readonly podTermination?: number
  /**
   * What plays days for ten thousand VMs has no use for millions of records of requests, nor for who owns which field of what controllers
   * write for each of them; what is in these objects is not frozen. Default: all of that is done.
   */
  readonly isLean?: boolean
  /** What uids and generated names are drawn from; another one where objects of another store are adopted, which keep theirs. */
  readonly seed?: number
}

/** What controllers write again and again, or by the thousand: in a lean store it has no managedFields. */
const swarming: ReadonlySet<string> = new Set([
  'Lease',
  'Node',
  'Event',
  'Pod',
  'VirtualMachine',
  'VirtualMachineInstance',
  'VirtualMachineInstanceMigration',
])

/**
 * The objects of a simulated cluster with the semantics of a kube-apiserver. Synchronous; every object that it gives
 * out is frozen. Failures are `Refusal`s with the `metav1.Status` of the real one.
 */
export class Store {
  readonly clock: Clock
  readonly kinds: KindRegistry
  /** What the server says that it is. */
  version: ServerVersion
  /** Every request that was made, oldest first; none where it `isLean`. */
  readonly audit: AuditRecord[] = []
  readonly isLean: boolean
  /** What API servers behind this one answer, by the path that is asked for. They throw a Refusal where nobody is there. */
  readonly aggregated = new Map<string, () => object>()
  /** Asked before every write, dry runs included. */
  readonly admission = new Set<(admission: Admission) => void>()
  readonly #subresources = new Map<string, SubresourceHook>()
  readonly #table: ObjectTable
  readonly #snapshots = new ListSnapshots()
  readonly #identity: Identity
  readonly #deletion: Deletion

  constructor(clock: Clock, options: StoreOptions = {}) {
    this.clock = clock
    this.isLean = options.isLean ?? false
    this.#identity = new Identity(options.seed)
    this.kinds = new KindRegistry(options.kinds ?? builtInKinds)
    this.version = options.version ?? { gitVersion: 'v1.35.4', major: '1', minor: '35' }
    this.#table = new ObjectTable(new History(options.history ?? (this.isLean ? 0 : undefined)))
    const { podTermination = 0 } = options
    this.#deletion = new Deletion({ table: this.#table, kinds: this.kinds, clock, podTermination })
    this.#table.history.listen(storageKey(CustomResourceDefinitions), ({ type, object }) => {
      if (type === 'DELETED') unserveDefinition(this, object)
    })
  }

  /** What happens on PUT virtualmachines/restart, POST pods/eviction, GET pods/log. */
  onSubresource(kind: Pick<Kind, 'apiVersion' | 'plural'>, name: string, hook: SubresourceHook): void {
    this.#subresources.set(`${storageKey(kind)}/${name}`, hook)
  }

  subresource(kind: Kind, name: string): SubresourceHook | undefined {
    return this.#subresources.get(`${storageKey(kind)}/${name}`)
  }

  /** The newest resourceVersion. */
  get revision(): number {
    return this.#table.revision
  }

  read(kind: Kind, ref: ObjectRef): KubeObject | undefined {
    const resolved = this.kinds.resolve(kind)
    const found = this.#table.find(resolved, ref)
    return found && inVersion(resolved, found, kind.apiVersion)
  }

  list(kind: Kind, where: Listing = {}): PageOf {
    const resolved = this.kinds.resolve(kind)
    const matches = selection(resolved, where)
    const { namespace, labels, fields, limit = 0, continue: token } = where
    const objects = () => {
      const narrowing = { namespace, name: nameSelected(fields), label: labelSelected(labels) }
      const found = this.#table.ordered(resolved, narrowing)
      return matches === everything ? found : found.filter(matches)
    }
    const id = () => [storageKey(kind), namespace, labels, fields].join('|')
    const page = this.#snapshots.page({ id, objects, revision: this.revision }, limit, token)
    if (page.items.every(({ apiVersion }) => apiVersion === kind.apiVersion) && !resolved.versioning)
      return page
    return { ...page, items: page.items.map((o) => inVersion(resolved, o, kind.apiVersion)) }
  }

  create(kind: Kind, given: KubeObject, write: Write = {}): KubeObject {
    const resolved = this.kinds.resolve(kind)
    const object = this.#prepared(resolved, accepted(resolved, given, kind.apiVersion))
    if (this.#table.find(resolved, object.metadata)) throw alreadyExists(resolved, object.metadata.name)
    this.#own(resolved, undefined, object, write)
    return inVersion(resolved, this.#admit(resolved, undefined, object, write), kind.apiVersion)
  }

  update(kind: Kind, ref: ObjectRef, given: KubeObject, write: Write = {}): KubeObject {
    const resolved = this.kinds.resolve(kind)
    const before = inVersion(resolved, this.#table.stored(resolved, ref), resolved.apiVersion)
    requireStatus(resolved, write)
    const object = prepareUpdate(resolved, before, accepted(resolved, given, kind.apiVersion), write.on)
    this.#own(resolved, before, object, write)
    return inVersion(resolved, this.#admit(resolved, before, object, write), kind.apiVersion)
  }

  patch(kind: Kind, ref: ObjectRef, patch: Patch, write: Write = {}): KubeObject {
    if (patch.type === 'apply') return this.#apply(kind, ref, patch, write)
    const resolved = this.kinds.resolve(kind)
    const before = inVersion(resolved, this.#table.stored(resolved, ref), kind.apiVersion)
    const given = patched(resolved, before, patch)
    requireSameUid(resolved, before, given)
    return this.update(kind, ref, given, write)
  }

  #apply(kind: Kind, ref: ObjectRef, patch: Patch & { type: 'apply' }, write: Write): KubeObject {
    const resolved = this.kinds.resolve(kind)
    requireStatus(resolved, write)
    const { metadata } = patch.body
    const stored = this.#table.find(resolved, ref)
    const before = stored && inVersion(resolved, stored, resolved.apiVersion)
    const writer: FieldWriter = { ...this.#writer(write), operation: 'Apply' }
    if (metadata.managedFields) throw badRequest('metadata.managedFields must be nil')
    const wanted = ownHalf(resolved, patch.body, write.on)
    const merged = applied(resolved, before, wanted, { writer, force: patch.force })
    const { managedFields = [] } = merged.metadata
    const given = accepted(resolved, merged, resolved.apiVersion)
    if (!before && metadata.uid !== undefined) throw notFound(resolved, ref.name)
    const object = before ? prepareUpdate(resolved, before, given, write.on) : this.#prepared(resolved, given)
    object.metadata.managedFields = managedFields
    return inVersion(resolved, this.#admit(resolved, before, object, write), kind.apiVersion)
  }

  remove(kind: Kind, ref: ObjectRef, removal: Removal = {}): KubeObject {
    const resolved = this.kinds.resolve(kind)
    const before = this.#table.stored(resolved, ref)
    requirePrecondition(resolved, before, removal.only)
    for (const hook of this.admission)
      hook({ operation: 'DELETE', kind: resolved, object: before, before, write: removal })
    if (removal.dryRun === true) return before
    if (removal.orphan === true) this.#deletion.orphan(before)
    return inVersion(resolved, this.#deletion.delete(resolved, before, removal.now), kind.apiVersion)
  }

  /** Puts an object in as it is, status included: how a cluster is seeded. Replaces what is there. */
  put(kind: Kind, object: KubeObject, manager = 'kubectl-create'): KubeObject {
    const resolved = this.kinds.resolve(kind)
    const made = prepareCreate(resolved, object, { identity: this.#identity, now: this.clock.now() })
    const { uid, creationTimestamp, generation, deletionTimestamp } = object.metadata
    Object.assign(made.metadata, copy({ uid, creationTimestamp, generation, deletionTimestamp }))
    const status = at(object, 'status')
    if (status !== undefined) Object.assign(made, { status: copy(status) })
    if ((made.metadata.managedFields ?? []).length === 0) this.#own(resolved, undefined, made, { manager })
    return this.#keep(resolved, undefined, made)
  }

  /** Takes objects of another store over as they are, managedFields and uids included; those of kinds that none of them defines are left. */
  adopt(objects: readonly KubeObject[]): void {
    const definitions = objects.filter(({ kind }) => kind === CustomResourceDefinitions.kind)
    for (const object of [...definitions, ...objects]) {
      const kind = this.kinds.ofObject(object)
      if (kind && !this.#table.find(kind, object.metadata)) this.#keep(kind, undefined, object)
    }
  }

  /** Changes of one resource from now on, or from after a revision. Throws 410 for one that is no longer known. */
  watch(kind: Kind, listener: (event: StoreEvent) => void, after?: number): () => void {
    const resolved = this.kinds.resolve(kind)
    const resource = storageKey(resolved)
    const now = () => this.kinds.find(kind) ?? resolved
    const tell = (event: StoreEvent) => {
      const object = inVersion(now(), event.object, kind.apiVersion)
      listener(object === event.object ? event : { ...event, object })
    }
    if (after !== undefined) for (const event of this.#table.history.since(resource, after)) tell(event)
    return this.#table.history.listen(resource, tell)
  }

  /** Every object of every kind. */
  everything(): KubeObject[] {
    return this.#table.everything()
  }

  #prepared(kind: SimKind, given: KubeObject): KubeObject {
    const object = prepareCreate(kind, given, { identity: this.#identity, now: this.clock.now() })
    const { namespace } = object.metadata
    const namespaces = this.kinds.find({ apiVersion: 'v1', plural: 'namespaces' })
    if (kind.namespaced && namespaces && !this.#table.find(namespaces, { name: namespace ?? '' }))
      throw notFound(namespaces, namespace ?? '')
    return object
  }

  #admit(kind: SimKind, before: KubeObject | undefined, object: KubeObject, write: Write): KubeObject {
    // A status is not held against the spec: of a CustomResourceDefinition it may forget even the version that is stored.
    if (write.on !== 'status') validate(kind, object, before)
    const operation = before ? 'UPDATE' : 'CREATE'
    for (const hook of this.admission) hook({ operation, kind, object, before, write })
    const isNew = before?.metadata.generation !== object.metadata.generation
    if (before && !isNew && isUnchanged(before, object)) return before
    return write.dryRun === true ? object : this.#keep(kind, before, object)
  }

  #keep(kind: SimKind, before: KubeObject | undefined, object: KubeObject): KubeObject {
    const kept = this.#table.keep(kind, object, this.isLean && swarming.has(kind.kind))
    serveDefinition(this, kept)
    if (before) this.#deletion.afterWrite(kind, before, kept)
    return this.#table.find(kind, kept.metadata) ?? kept
  }

  /** Notes in the object who owns its fields now. */
  #own(kind: SimKind, before: KubeObject | undefined, object: KubeObject, write: Write): void {
    if (this.isLean && swarming.has(kind.kind)) delete object.metadata.managedFields
    else object.metadata.managedFields = afterUpdate(kind, before, object, this.#writer(write))
  }

  #writer({ manager = 'unknown', on }: Write): FieldWriter {
    return { manager, operation: 'Update', subresource: on, at: timestamp(this.clock.now()) }
  }
}

/** Who owns which field is looked at last: it is only worked out where everything else is the same. */
const isUnchanged = (before: KubeObject, object: KubeObject): boolean =>
  sameBut(['metadata'], before, object) &&
  sameBut(['managedFields'], before.metadata, object.metadata) &&
  same(before.metadata.managedFields ?? [], object.metadata.managedFields ?? [])

/** What is written, as it is to be stored. */
const accepted = ({ versioning }: SimKind, given: KubeObject, apiVersion: string): KubeObject =>
  versioning ? versioning.accept(given, apiVersion) : given

function requireStatus(kind: SimKind, { on }: Write): void {
  if (on === 'status' && !kind.status) throw unserved()
}

/** What a write carries besides the object. */
export interface Write {
  /** Field manager. */
  readonly manager?: string | undefined
  readonly on?: 'status' | undefined
  readonly dryRun?: boolean | undefined
  readonly user?: string | undefined
}

export interface Removal extends Write {
  readonly only?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined
  /** Dependents stay. */
  readonly orphan?: boolean | undefined
  /** Pods are not Terminating first. */
  readonly now?: boolean | undefined
}

export interface Listing {
  readonly namespace?: string | undefined
  readonly labels?: string | undefined
  readonly fields?: string | undefined
  readonly limit?: number | undefined
  readonly continue?: string | undefined
}

/** What an admission hook is asked. It throws a Refusal to refuse. */
export interface Admission {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly kind: SimKind
  readonly object: KubeObject
  readonly before: KubeObject | undefined
  readonly write: Write
}

const namespaces = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false } as const

/**
 * Puts objects in as they are, status included, past admission and validation; makes the namespaces that are missing.
 * Throws 404 for a kind that the store does not serve.
 */
export function seed(store: Store, objects: readonly KubeObject[], manager?: string): void {
  for (const object of objects) {
    const kind = store.kinds.ofObject(object)
    if (!kind) throw unserved()
    const { namespace } = object.metadata
    if (namespace !== undefined && kind.namespaced) ensureNamespace(store, namespace)
    store.put(kind, object, manager)
  }
}

export function ensureNamespace(store: Store, name: string): void {
  if (store.read(namespaces, { name })) return
  store.put(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}
