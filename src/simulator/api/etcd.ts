import type { KubeObject, OwnerReference } from '../../lib/kube/object.ts'
import { type SimKind, storageKey, versionOf } from './kinds/sim-kind.ts'
import { notFound, Refusal } from './api-refusal.ts'
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

/** Where an object is kept: what stands here is what it is now. */
interface Entry {
  /** Namespace and name. */
  readonly key: string
  object: KubeObject
}

const byKey = (a: Entry, b: Entry): number => (a.key < b.key ? -1 : 1)

/** Entries in their order, which is looked for only where somebody asks, and then only for what came and went since. */
class Entries {
  readonly #all = new Set<Entry>()
  #sorted: readonly Entry[] | undefined
  #came: Set<Entry> | undefined
  #went: Set<Entry> | undefined

  get size(): number {
    return this.#all.size
  }

  add(entry: Entry): this {
    if (this.#all.has(entry)) return this
    this.#all.add(entry)
    if (this.#sorted) (this.#came ??= new Set()).add(entry)
    return this
  }

  delete(entry: Entry): void {
    if (!this.#all.delete(entry)) return
    if (this.#sorted && this.#came?.delete(entry) !== true) (this.#went ??= new Set()).add(entry)
  }

  [Symbol.iterator](): IterableIterator<Entry> {
    return this.#all.values()
  }

  /** As etcd has them: by namespace, then name. */
  sorted(): readonly Entry[] {
    const [came, went] = [this.#came, this.#went]
    if (this.#sorted === undefined) this.#sorted = [...this.#all].sort(byKey)
    else if (came || went) {
      const left = went ? this.#sorted.filter((entry) => !went.has(entry)) : this.#sorted
      // What is in order already costs a sort next to nothing.
      this.#sorted = came ? [...left, ...came].sort(byKey) : left
    }
    this.#came = undefined
    this.#went = undefined
    return this.#sorted
  }
}

/** Entries by what their objects say in one place: a namespace, a label, the uids of owners. */
class Index {
  readonly #groups = new Map<string, Entries>()
  readonly #place: (object: KubeObject) => Indexed

  constructor(place: (object: KubeObject) => Indexed) {
    this.#place = place
  }

  /** Undefined: it was not there before, or goes. */
  move(entry: Entry, before: KubeObject | undefined, now: KubeObject | undefined): void {
    const [from, to] = [before && this.#place(before), now && this.#place(now)]
    if (from === to) return
    const groups = groupsOf(to)
    for (const group of groupsOf(from)) {
      if (groups.includes(group)) continue
      const entries = this.#groups.get(group)
      entries?.delete(entry)
      if (entries?.size === 0) this.#groups.delete(group)
    }
    for (const group of groups) {
      const entries = this.#groups.get(group)
      if (entries) entries.add(entry)
      else this.#groups.set(group, new Entries().add(entry))
    }
  }

  get(group: string): Entries {
    return this.#groups.get(group) ?? none
  }

  every(): Entries {
    const all = new Entries()
    for (const entries of this.#groups.values()) for (const entry of entries) all.add(entry)
    return all
  }
}

type Indexed = string | readonly OwnerReference[] | undefined

const groupsOf = (place: Indexed): readonly string[] =>
  typeof place === 'string' ? [place] : (place?.map(({ uid }) => uid) ?? [])

/** The stored objects of one kind by name, with what lists of a part of them need. */
class Shelf {
  readonly #isNamespaced: boolean
  /** By namespace and name: together they would have to be made one text each time. */
  readonly #entries = new Map<string, Map<string, Entry>>()
  readonly #all = new Entries()
  readonly #byNamespace = new Index(({ metadata }) => metadata.namespace ?? '')
  readonly #byOwner = new Index(({ metadata }) => metadata.ownerReferences)
  readonly #byLabel = new Map<string, Index>()

  constructor(isNamespaced: boolean) {
    this.#isNamespaced = isNamespaced
  }

  find(ref: ObjectRef): KubeObject | undefined {
    return this.#find(ref)?.object
  }

  keep(object: KubeObject): void {
    const known = this.#find(object.metadata)
    const before = known?.object
    const entry = known ?? this.#place(object)
    entry.object = object
    this.#move(entry, before, object)
  }

  drop(ref: ObjectRef): void {
    const entry = this.#find(ref)
    if (!entry) return
    this.#entries.get(this.#group(ref))?.delete(ref.name)
    this.#all.delete(entry)
    this.#move(entry, entry.object, undefined)
  }

  all(): KubeObject[] {
    return Array.from(this.#all, objectOf)
  }

  of(uid: string): KubeObject[] {
    return Array.from(this.#byOwner.get(uid), objectOf)
  }

  in(namespace: string): KubeObject[] {
    return Array.from(this.#byNamespace.get(namespace), objectOf)
  }

  /** In the order of namespace and name. */
  ordered({ namespace, label }: Narrowing): KubeObject[] {
    const here = namespace === undefined ? this.#all : this.#byNamespace.get(namespace)
    if (label && here.size > fewest) {
      const index = this.#byLabel.get(label.key) ?? this.#index(label.key)
      const labelled = label.value === undefined ? index.every() : index.get(label.value)
      if (labelled.size < here.size) return labelled.sorted().map(objectOf)
    }
    return here.sorted().map(objectOf)
  }

  #move(entry: Entry, before: KubeObject | undefined, now: KubeObject | undefined): void {
    this.#byNamespace.move(entry, before, now)
    this.#byOwner.move(entry, before, now)
    for (const index of this.#byLabel.values()) index.move(entry, before, now)
  }

  #group({ namespace }: ObjectRef): string {
    return this.#isNamespaced ? (namespace ?? '') : ''
  }

  #find(ref: ObjectRef): Entry | undefined {
    return this.#entries.get(this.#group(ref))?.get(ref.name)
  }

  #place(object: KubeObject): Entry {
    const { name } = object.metadata
    const group = this.#group(object.metadata)
    const entry = { key: this.#isNamespaced ? `${group}/${name}` : name, object }
    const names = this.#entries.get(group)
    if (names) names.set(name, entry)
    else this.#entries.set(group, new Map([[name, entry]]))
    this.#all.add(entry)
    return entry
  }

  #index(label: string): Index {
    const index = new Index(({ metadata }) => metadata.labels?.[label])
    this.#byLabel.set(label, index)
    for (const entry of this.#all) index.move(entry, undefined, entry.object)
    return index
  }
}

const none = new Entries()
/** So few are looked at faster than an index is kept. */
const fewest = 8

const objectOf = ({ object }: Entry): KubeObject => object

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
    return this.#shelf(kind).find(ref)
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
    return [...this.#shelves.values()].flatMap((shelf) => shelf.all())
  }

  exists(uid: string): boolean {
    return this.#uids.has(uid)
  }

  /** `isOpen`: only the object itself is frozen, which is all that is asked of one before it is shared. */
  keep(kind: SimKind, object: KubeObject, isOpen = false): KubeObject {
    const shelf = this.#shelf(kind)
    const before = shelf.find(object.metadata)
    const metadata = { ...object.metadata, resourceVersion: this.#advance() }
    if (metadata.managedFields?.length === 0) delete metadata.managedFields
    const kept = isOpen ? Object.freeze({ ...object, metadata }) : frozen({ ...object, metadata })
    shelf.keep(kept)
    this.#uids.add(kept.metadata.uid ?? '')
    this.#record(before ? 'MODIFIED' : 'ADDED', kind, kept, before)
    return kept
  }

  drop(kind: SimKind, before: KubeObject): KubeObject {
    this.#shelf(kind).drop(before.metadata)
    this.#uids.delete(before.metadata.uid ?? '')
    const gone = frozen({ ...before, metadata: { ...before.metadata, resourceVersion: this.#advance() } })
    this.#record('DELETED', kind, gone, before)
    return gone
  }

  #advance(): string {
    return String(++this.#revision)
  }

  #record(type: StoreEvent['type'], kind: SimKind, object: KubeObject, before: KubeObject | undefined): void {
    this.history.record({ type, resource: storageKey(kind), object, before, revision: this.#revision })
  }

  #shelf(kind: SimKind): Shelf {
    const key = storageKey(kind)
    const known = this.#shelves.get(key)
    if (known) return known
    const made = new Shelf(kind.namespaced)
    this.#shelves.set(key, made)
    return made
  }
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
  readonly #events = new Map<string, StoreEvent[]>()
  readonly #forgotten = new Map<string, number>()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #limit: number

  constructor(limit = 2048) {
    this.#limit = limit
  }

  record(event: StoreEvent): void {
    this.#remember(event)
    for (const listener of this.#listeners.get(event.resource) ?? []) listener(event)
  }

  /** Twice as many as are told again are kept before the older half goes at once: one at a time would move all the others each time. */
  #remember(event: StoreEvent): void {
    const known = this.#events.get(event.resource)
    if (known) known.push(event)
    const events = known ?? [event]
    if (!known) this.#events.set(event.resource, events)
    const gone = events[events.length - 1 - this.#limit]
    if (gone) this.#forgotten.set(event.resource, gone.revision)
    if (events.length > 2 * this.#limit) events.splice(0, events.length - this.#limit)
  }

  /** What happened after that revision. Throws 410 when that is no longer known. */
  since(resource: string, revision: number): readonly StoreEvent[] {
    const oldest = this.#forgotten.get(resource) ?? 0
    if (revision < oldest)
      throw new Refusal(410, 'Expired', `too old resource version: ${revision} (${oldest})`)
    return (this.#events.get(resource) ?? []).filter((e) => e.revision > revision)
  }

  listen(resource: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(resource) ?? new Set()
    this.#listeners.set(resource, listeners)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
}

/** The object as it reads in that version; where a kind says nothing else, nothing is converted but its name. */
export function inVersion({ versioning }: SimKind, object: KubeObject, apiVersion: string): KubeObject {
  if (versioning) return versioning.read(object, apiVersion)
  if (object.apiVersion === apiVersion || versionOf(object.apiVersion) === versionOf(apiVersion))
    return object
  return Object.freeze({ ...object, apiVersion })
}
