import type { Kind } from '../../cluster/kind.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { History } from './history.ts'
import { storageKey, versionOf } from './kind-registry.ts'
import { notFound } from './refusal.ts'
import type { SimKind } from './sim-kind.ts'

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
export function asVersion(object: KubeObject, apiVersion: string): KubeObject {
  if (versionOf(object.apiVersion) === versionOf(apiVersion)) return object
  return Object.freeze({ ...object, apiVersion })
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
