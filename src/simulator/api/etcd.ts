import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { type SimKind, storageKey, versionOf } from './kinds/sim-kind.ts'
import { notFound, tooOld } from './api-refusal.ts'

export interface ObjectRef {
  readonly name: string
  readonly namespace?: string | undefined
}

/** The stored objects, frozen, and the one counter behind every resourceVersion. */
export class ObjectTable {
  readonly history: History
  readonly #shelves = new Map<string, Map<string, KubeObject>>()
  readonly #uids = new Set<string>()
  #revision = 0

  constructor(history: History) {
    this.history = history
  }

  get revision(): number {
    return this.#revision
  }

  find(kind: SimKind, ref: ObjectRef): KubeObject | undefined {
    return this.#shelf(kind).get(keyOf(kind, ref))
  }

  /** Throws 404. */
  stored(kind: SimKind, ref: ObjectRef): KubeObject {
    const found = this.find(kind, ref)
    if (!found) throw notFound(kind, ref.name)
    return found
  }

  all(kind: Pick<Kind, 'apiVersion' | 'plural'>): KubeObject[] {
    return [...this.#shelf(kind).values()]
  }

  everything(): KubeObject[] {
    return [...this.#shelves.values()].flatMap((shelf) => Array.from(shelf.values()))
  }

  exists(uid: string): boolean {
    return this.#uids.has(uid)
  }

  keep(kind: SimKind, object: KubeObject): KubeObject {
    const before = this.find(kind, object.metadata)
    const metadata = { ...object.metadata, resourceVersion: this.advance() }
    if (metadata.managedFields?.length === 0) delete metadata.managedFields
    const kept = frozen({ ...object, metadata })
    this.#shelf(kind).set(keyOf(kind, object.metadata), kept)
    this.#uids.add(kept.metadata.uid ?? '')
    this.#record(before ? 'MODIFIED' : 'ADDED', kind, kept, before)
    return kept
  }

  drop(kind: SimKind, before: KubeObject): KubeObject {
    this.#shelf(kind).delete(keyOf(kind, before.metadata))
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

  #shelf(kind: Pick<Kind, 'apiVersion' | 'plural'>): Map<string, KubeObject> {
    const key = storageKey(kind)
    const known = this.#shelves.get(key)
    if (known) return known
    const made = new Map<string, KubeObject>()
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

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
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
  readonly #listeners = new Set<Listener>()
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
    for (const listener of this.#listeners) listener(event)
  }

  /** What happened after that revision. Throws 410 when that is no longer known. */
  since(resource: string, revision: number): readonly StoreEvent[] {
    const oldest = Math.max(this.#forgotten.get(resource) ?? 0, this.#compacted)
    if (revision < oldest) throw tooOld(revision, oldest)
    return (this.#rings.get(resource) ?? []).filter((e) => e.revision > revision)
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
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
