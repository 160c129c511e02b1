import { groupOf, type Kind, type KubeObject } from '../../../lib/kube/object.ts'
import { type FieldError, unserved } from '../api-refusal.ts'
import { agePath, pathColumns } from './printer-columns.ts'
import listTable from './list-keys.json' with { type: 'json' }

/** A column of `kubectl get`; the server renders it. Priority 1 is shown by `-o wide` only. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date' | 'number'
  readonly priority?: number
  cell(object: KubeObject, at: Date): string | number | boolean
}

/**
 * What counts as a change of the spec: `spec`; for Deployments their annotations as well; for custom kinds without a
 * status subresource (VirtualMachineInstance) everything but metadata, status included.
 */
type Generation = 'none' | 'spec' | 'spec-and-annotations' | 'object'

/** A kind as the server knows it. `apiVersion` is the version it is stored in. */
export interface SimKind extends Kind {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
  /** Versions of the group that are served, the preferred one first. */
  readonly versions: readonly string[]
  /** Whether `status` is written by its own subresource only. */
  readonly status: boolean
  /** Others: `restart`, `eviction`, `log`. */
  readonly subresources: readonly string[]
  /** What a field selector may name, besides name and namespace. */
  readonly selectable: readonly string[]
  readonly generation: Generation
  readonly builtIn: boolean
  readonly columns: readonly Column[]
  readonly listKeys: ListKeys
  /** Fills in what the server defaults; works on its own copy. */
  readonly defaults?: (object: KubeObject) => void
  /** Absent where nothing but the name of the version differs. */
  readonly versioning?: Versioning
  /** Where `versioning` follows the definition: what it is from when on that is written. */
  readonly versioningBy?: (definition: KubeObject) => Versioning
  readonly validate?: (object: KubeObject, before: KubeObject | undefined) => readonly FieldError[]
}

/** How a kind is told in several versions that differ in more than their name. */
interface Versioning {
  /** As it reads in that version: converted and pruned. */
  read(stored: KubeObject, apiVersion: string): KubeObject
  /** As it is stored when it is written in that version: defaulted and pruned by it, and then by the stored one. */
  accept(given: KubeObject, apiVersion: string): KubeObject
}

export const allVerbs = 'create delete deletecollection get list patch update watch'.split(' ')

/**
 * How the lists of a kind are merged: by which members the item is known (`['name']`), as a set of plain values, or
 * not at all (atomic). The path holds member names only, without list positions.
 */
export type ListKeys = (path: readonly string[]) => readonly string[] | 'set' | 'atomic'

const builtInListKeys: Readonly<Record<string, readonly string[] | undefined>> = listTable

const metadata: Readonly<Record<string, readonly string[] | 'set' | undefined>> = {
  ownerReferences: ['uid'],
  finalizers: 'set',
}

/** Lists of built-in kinds, as `x-kubernetes-list-map-keys` of the API server's own schema has them. */
export const builtInLists: ListKeys = (path) => {
  const field = path.at(-1) ?? ''
  if (path.at(-2) === 'metadata') return metadata[field] ?? 'atomic'
  if (field === 'ports')
    return path.includes('containers') ? ['containerPort', 'protocol'] : ['port', 'protocol']
  return builtInListKeys[field] ?? 'atomic'
}

/** Lists of custom kinds are atomic unless their schema says otherwise. */
export const atomicLists: ListKeys = (path) =>
  path.at(-2) === 'metadata' ? (metadata[path.at(-1) ?? ''] ?? 'atomic') : 'atomic'

/** Maps that belong to one writer as a whole. */
export function atomicMap(path: readonly string[], isBuiltIn: boolean): boolean {
  const field = path.at(-1) ?? ''
  return isBuiltIn && (field === 'selector' || field === 'nodeSelector' || field === 'matchLabels')
}

type More = Partial<Omit<SimKind, keyof Kind>>

/** A kind of the API server's own; what is not said is as for most: no status, no generation, name and age. */
export const builtIn = (kind: Kind, more: More = {}): SimKind => ({
  ...kind,
  singular: kind.kind.toLowerCase(),
  shortNames: [],
  categories: [],
  verbs: allVerbs,
  versions: [versionOf(kind.apiVersion)],
  status: false,
  subresources: [],
  selectable: [],
  generation: 'none',
  builtIn: true,
  columns: pathColumns(agePath),
  listKeys: builtInLists,
  ...more,
})

/** A kind that a CustomResourceDefinition would bring. */
export function custom(kind: Kind, more: More = {}): SimKind {
  const status = more.status ?? true
  return builtIn(kind, {
    status,
    generation: status ? 'spec' : 'object',
    builtIn: false,
    listKeys: atomicLists,
    categories: ['all'],
    ...more,
  })
}

type Resource = Pick<Kind, 'apiVersion' | 'plural'>

/** The kinds that are served now. CustomResourceDefinitions add and take away. */
export class KindRegistry {
  readonly #kinds = new Map<string, SimKind>()
  readonly #listeners = new Set<(kind: SimKind) => void>()

  constructor(kinds: readonly SimKind[]) {
    for (const kind of kinds) this.add(kind)
  }

  add(kind: SimKind): void {
    this.#kinds.set(storageKey(kind), kind)
    for (const listener of this.#listeners) listener(kind)
  }

  /** Told of every kind that is served from now on, or served anew. */
  onServed(listener: (kind: SimKind) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  remove(kind: Resource): void {
    this.#kinds.delete(storageKey(kind))
  }

  all(): readonly SimKind[] {
    return [...this.#kinds.values()]
  }

  /** The kind under the version that was asked for; undefined where that is not served. */
  find(kind: Resource): SimKind | undefined {
    const found = this.#kinds.get(storageKey(kind))
    return found?.versions.includes(versionOf(kind.apiVersion)) ? found : undefined
  }

  inAnyVersion(kind: Resource): SimKind | undefined {
    return this.#kinds.get(storageKey(kind))
  }

  /** Throws 404 "the server could not find the requested resource". */
  resolve(kind: Resource): SimKind {
    const found = this.find(kind)
    if (!found) throw unserved()
    return found
  }

  ofObject({ apiVersion, kind }: { apiVersion: string; kind: string }): SimKind | undefined {
    const group = groupOf({ apiVersion })
    for (const known of this.#kinds.values())
      if (known.kind === kind && groupOf(known) === group && known.versions.includes(versionOf(apiVersion)))
        return known
    return undefined
  }

  /** Group to versions, the preferred one first. The core group is ``. */
  groups(): ReadonlyMap<string, readonly string[]> {
    const groups = new Map<string, string[]>()
    for (const kind of this.all()) {
      const group = groupOf(kind)
      const known = groups.get(group) ?? []
      groups.set(group, [...known, ...kind.versions.filter((v) => !known.includes(v))])
    }
    return groups
  }
}

export const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1)

const keys = new WeakMap<Resource, string>()

/** Objects are kept per group and plural, whatever version they are read in. */
export function storageKey(kind: Resource): string {
  let key = keys.get(kind)
  if (key === undefined) keys.set(kind, (key = `${groupOf(kind)}/${kind.plural}`))
  return key
}
