import { groupOf, type Kind } from '../../cluster/kind.ts'
import { unserved } from './refusal.ts'
import type { SimKind } from './sim-kind.ts'

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

  remove(kind: Pick<Kind, 'apiVersion' | 'plural'>): void {
    this.#kinds.delete(storageKey(kind))
  }

  all(): readonly SimKind[] {
    return [...this.#kinds.values()]
  }

  /** The kind under the version that was asked for; undefined where that is not served. */
  find(kind: Pick<Kind, 'apiVersion' | 'plural'>): SimKind | undefined {
    const found = this.#kinds.get(storageKey(kind))
    return found?.versions.includes(versionOf(kind.apiVersion)) ? found : undefined
  }

  /** The kind, whatever version was asked for. */
  inAnyVersion(kind: Pick<Kind, 'apiVersion' | 'plural'>): SimKind | undefined {
    return this.#kinds.get(storageKey(kind))
  }

  /** Throws 404 "the server could not find the requested resource". */
  resolve(kind: Pick<Kind, 'apiVersion' | 'plural'>): SimKind {
    const found = this.find(kind)
    if (!found) throw unserved()
    return found
  }

  ofObject({ apiVersion, kind }: { apiVersion: string; kind: string }): SimKind | undefined {
    const group = groupOf({ apiVersion })
    return this.all().find(
      (k) => k.kind === kind && groupOf(k) === group && k.versions.includes(versionOf(apiVersion)),
    )
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

export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}

const keys = new WeakMap<Pick<Kind, 'apiVersion' | 'plural'>, string>()

/** Objects are kept per group and plural, whatever version they are read in. */
export function storageKey(kind: Pick<Kind, 'apiVersion' | 'plural'>): string {
  const known = keys.get(kind)
  if (known !== undefined) return known
  const key = `${groupOf(kind)}/${kind.plural}`
  keys.set(kind, key)
  return key
}
