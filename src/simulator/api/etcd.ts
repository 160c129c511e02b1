import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { type SimKind, storageKey, versionOf } from './kinds/sim-kind.ts'
import { notFound, tooOld } from './api-refusal.ts'
import { frozen } from './json.ts'

export interface ObjectRef {
  readonly name: string
  readonly namespace?: string | undefined
}

/** Which objects of a kind may be among those that are asked for: the rest need not be looked at. */
interface Narrowing {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  /** A label that all of them have; without a value, whatever it says. */
  readonly label?: { readonly key: string; readonly value?: string | undefined } | undefined
}

type Objects = Map<string, KubeObject>

/** The stored objects of one kind by name, with what lists of a part of them need. */
class Shelf {
  readonly #objects: Objects = new Map()
  readonly #byNamespace = new Map<string, Objects>()
  /** By key and value, from the first time on that a label is asked for. */
  readonly #byLabel = new Map<string, Map<string, Objects>>()
  readonly #byOwner = new Map<string, Objects>()
  /** The keys in their order, from the first time on that all are asked for. */
  #ordered: string[] | undefined

  find(key: string): KubeObject | undefined {
    return this.#objects.get(key)
  }

  keep(key: string, object: KubeObject): void {
    const before = this.#objects.get(key)
    this.#objects.set(key, object)
    if (!before && this.#ordered) this.#ordered.splice(placeIn(this.#ordered, key), 0, key)
    file(this.#byNamespace, object.metadata.namespace ?? '', key, object)
    for (const [label, values] of this.#byLabel) {
      const [old, now] = [before?.metadata.labels?.[label], object.metadata.labels?.[label]]
      if (old !== undefined && old !== now) unfile(values, old, key)
      if (now !== undefined) file(values, now, key, object)
    }
    const owners = ownersOf(object)
    for (const uid of ownersOf(before)) if (!owners.includes(uid)) unfile(this.#byOwner, uid, key)
    for (const uid of owners) file(this.#byOwner, uid, key, object)
  }

  drop(key: string): void {
    const object = this.#objects.get(key)
    if (!object) return
    this.#objects.delete(key)
    this.#ordered?.splice(placeIn(this.#ordered, key), 1)
    unfile(this.#byNamespace, object.metadata.namespace ?? '', key)
    for (const [label, values] of this.#byLabel) {
      const value = object.metadata.labels?.[label]
      if (value !== undefined) unfile(values, value, key)
    }
    for (const uid of ownersOf(object)) unfile(this.#byOwner, uid, key)
  }

  all(): Iterable<KubeObject> {
    return this.#objects.values()
  }

  of(uid: string): KubeObject[] {
    return [...(this.#byOwner.get(uid)?.values() ?? [])]
  }

  in(namespace: string): KubeObject[] {
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])]
  }

  /** In the order of namespace and name. */
  ordered({ namespace, label }: Narrowing): KubeObject[] {
    const here = namespace === undefined ? this.#objects : (this.#byNamespace.get(namespace) ?? none)
    const parts = label && here.size > fewest ? this.#labelled(label.key, label.value) : undefined
    if (parts && sizeOf(parts) < here.size) return inOrder(parts)
    if (here !== this.#objects) return inOrder([here])
    this.#ordered ??= [...this.#objects.keys()].sort(byPlace)
    return this.#ordered.flatMap((key) => this.#objects.get(key) ?? [])
  }

  #labelled(label: string, value: string | undefined): readonly Objects[] {
    const values = this.#byLabel.get(label) ?? this.#index(label)
    if (value === undefined) return [...values.values()]
    return [values.get(value) ?? none]
  }

  #index(label: string): Map<string, Objects> {
    const values = new Map<string, Objects>()
    this.#byLabel.set(label, values)
    for (const [key, object] of this.#objects) {
      const value = object.metadata.labels?.[label]
      if (value !== undefined) file(values, value, key, object)
    }
    return values
  }
}

const none: Objects = new Map()
/** So few are looked at faster than an index is kept. */
const fewest = 8

const sizeOf = (parts: readonly Objects[]): number => parts.reduce((sum, { size }) => sum + size, 0)
const ownersOf = (object: KubeObject | undefined): readonly string[] =>
  object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? []

function file(groups: Map<string, Objects>, group: string, key: string, object: KubeObject): void {
  const known = groups.get(group)
  if (known) known.set(key, object)
  else groups.set(group, new Map([[key, object]]))
}

function unfile(groups: Map<string, Objects>, group: string, key: string): void {
  const known = groups.get(group)
  known?.delete(key)
  if (known?.size === 0) groups.delete(group)
}

/** As etcd has them: by namespace, then name. */
function inOrder(parts: readonly Objects[]): KubeObject[] {
  const objects = parts.flatMap((part) => [...part])
  return objects.sort(([a], [b]) => byPlace(a, b)).map(([, object]) => object)
}

const byPlace = (a: string, b: string): number => (a < b ? -1 : 1)

/** Where the key stands among keys in their order, or would stand: by halves. */
function placeIn(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((keys[middle] ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The stored objects, frozen, and the one counter behind every resourceVersion. */
export class ObjectTable {
  readonly history: History
  readonly #shelves = new Map<string, Shelf>()
  readonly #uids = new Set<string>()
  #revision = 0

  constructor(history: History) {
    this.history = history
  }

  get revision(): number {
    return this.#revision
  }

  find(kind: SimKind, ref: ObjectRef): KubeObject | undefined {
    return this.#shelf(kind).find(keyOf(kind, ref))
  }

  /** Throws 404. */
  stored(kind: SimKind, ref: ObjectRef): KubeObject {
    const found = this.find(kind, ref)
    if (!found) throw notFound(kind, ref.name)
    return found
  }

  /** At least those that the narrowing leaves, in the order of namespace and name. */
  ordered(kind: SimKind, narrowing: Narrowing): KubeObject[] {
    const { namespace, name } = narrowing
    if (name === undefined || (kind.namespaced && namespace === undefined))
      return this.#shelf(kind).ordered(narrowing)
    const found = this.find(kind, { namespace, name })
    return found ? [found] : []
  }

  ownedBy(kind: SimKind, uid: string): KubeObject[] {
    return this.#shelf(kind).of(uid)
  }

  inNamespace(kind: SimKind, namespace: string): KubeObject[] {
    return this.#shelf(kind).in(namespace)
  }

  everything(): KubeObject[] {
    return [...this.#shelves.values()].flatMap((shelf) => Array.from(shelf.all()))
  }

  exists(uid: string): boolean {
    return this.#uids.has(uid)
  }

  keep(kind: SimKind, object: KubeObject): KubeObject {
    const before = this.find(kind, object.metadata)
    const metadata = { ...object.metadata, resourceVersion: this.advance() }
    if (metadata.managedFields?.length === 0) delete metadata.managedFields
    const kept = frozen({ ...object, metadata })
    this.#shelf(kind).keep(keyOf(kind, object.metadata), kept)
    this.#uids.add(kept.metadata.uid ?? '')
    this.#record(before ? 'MODIFIED' : 'ADDED', kind, kept, before)
    return kept
  }

  drop(kind: SimKind, before: KubeObject): KubeObject {
    this.#shelf(kind).drop(keyOf(kind, before.metadata))
    this.#uids.delete(before.metadata.uid ?? '')
    const gone = frozen({ ...before, metadata: { ...before.metadata, resourceVersion: this.advance() } })
    this.#record('DELETED', kind, gone, before)
    return gone
  }

  advance(): string {
    return String(++this.#revision)
  }

  #record(
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    kind: SimKind,
    object: KubeObject,
    before: KubeObject | undefined,
  ): void {
    this.history.record({ type, resource: storageKey(kind), object, before, revision: this.#revision })
  }

  #shelf(kind: Pick<Kind, 'apiVersion' | 'plural'>): Shelf {
    const key = storageKey(kind)
    const known = this.#shelves.get(key)
    if (known) return known
    const made = new Shelf()
    this.#shelves.set(key, made)
    return made
  }
}

function keyOf(kind: SimKind, { namespace, name }: ObjectRef): string {
  return kind.namespaced ? `${namespace ?? ''}/${name}` : name
}

/** The object as it reads in the version that was asked for; nothing is converted but its name. */
function asVersion(object: KubeObject, apiVersion: string): KubeObject {
  if (versionOf(object.apiVersion) === versionOf(apiVersion)) return object
  return Object.freeze({ ...object, apiVersion })
}

/** One change of one object. `before` is what it was, for watchers whose selector it leaves. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly resource: string
  readonly object: KubeObject
  readonly before: KubeObject | undefined
  readonly revision: number
}

type Listener = (event: StoreEvent) => void

/** The last changes of each resource, for watches that resume, and who listens now. */
export class History {
  readonly #rings = new Map<string, StoreEvent[]>()
  readonly #forgotten = new Map<string, number>()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #limit: number
  #compacted = 0

  constructor(limit = 2048) {
    this.#limit = limit
  }

  record(event: StoreEvent): void {
    const notify = this.#rings.get(event.resource) ?? []
    this.#rings.set(event.resource, notify)
    notify.push(event)
    const gone = notify.length > this.#limit ? notify.shift() : undefined
    if (gone) this.#forgotten.set(event.resource, gone.revision)
    for (const listener of this.#listeners.get(event.resource) ?? []) listener(event)
  }

  /** What happened after that revision. Throws 410 when that is no longer known. */
  since(resource: string, revision: number): readonly StoreEvent[] {
    const oldest = Math.max(this.#forgotten.get(resource) ?? 0, this.#compacted)
    if (revision < oldest) throw tooOld(revision, oldest)
    return (this.#rings.get(resource) ?? []).filter((e) => e.revision > revision)
  }

  listen(resource: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(resource) ?? new Set()
    this.#listeners.set(resource, listeners)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Forgets everything up to that revision: whoever resumes from there gets 410. */
  compact(revision: number): void {
    this.#compacted = revision
    this.#rings.clear()
  }
}

/** The object as it reads in the version that was asked for. */
export function told({ versioning }: SimKind, object: KubeObject, apiVersion: string): KubeObject {
  return versioning ? versioning.read(object, apiVersion) : asVersion(object, apiVersion)
}

/** What is written, as it is to be stored. */
export function accepted({ versioning }: SimKind, given: KubeObject, apiVersion: string): KubeObject {
  return versioning ? versioning.accept(given, apiVersion) : given
}

/** What was stored while another version was the stored one, as it is stored from now on. */
export function inStoredVersion<T extends KubeObject | undefined>(kind: SimKind, object: T): T | KubeObject {
  return object === undefined ? object : told(kind, object, kind.apiVersion)
}
