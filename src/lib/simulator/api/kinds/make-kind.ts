import type { Kind } from '../../../cluster/kind.ts'
import { ageColumn, nameColumn } from '../column.ts'
import { versionOf } from '../kind-registry.ts'
import { atomicLists, builtInLists } from '../list-keys.ts'
import { allVerbs, type SimKind } from '../sim-kind.ts'

type More = Partial<Omit<SimKind, keyof Kind>>

/** A kind of the API server's own; what is not said is as for most: no status, no generation, name and age. */
export function builtIn(kind: Kind, more: More = {}): SimKind {
  return {
    ...kind,
    singular: kind.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    versions: [versionOf(kind.apiVersion)],
    status: false,
    subresources: [],
    generation: 'none',
    builtIn: true,
    columns: [nameColumn, ageColumn],
    listKeys: builtInLists,
    ...more,
  }
}

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
