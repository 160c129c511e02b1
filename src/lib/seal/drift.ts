import { type FieldChange, fieldChanges, type Leaf } from '../cluster/leaves.ts'
import type { SealedFact, Unsealed } from './seal.ts'

/** Where the cluster is no longer as the plan relied on. */
export interface Drift {
  fact: string
  what: string
  changes: readonly FieldChange[]
  /** It cannot be read any more: whether it moved is not known. */
  unread?: string
}

export interface Now {
  facts: readonly SealedFact[]
  unsealed: readonly Unsealed[]
}

/** Whether a change of a fact is what a step of this very plan does, which has begun. */
export type OwnWork = (fact: SealedFact, change: FieldChange) => boolean

/**
 * What moved since the plan was sealed, but for what its own steps moved: half executed, a fact may be as it was or as a begun step
 * leaves it (contract "Sealed plan"). Pure.
 */
export function driftOf(sealedFacts: readonly SealedFact[], now: Now, isOurs: OwnWork): readonly Drift[] {
  return sealedFacts.flatMap((fact): Drift[] => {
    const is = now.facts.find(({ id }) => id === fact.id)
    if (is === undefined) {
      const why = now.unsealed.find(({ id }) => id === fact.id)?.why ?? 'it is not there'
      return [{ fact: fact.id, what: fact.what, changes: [], unread: why }]
    }
    if (is.fingerprint === fact.fingerprint) return []
    const changes = fieldChanges(fact.leaves, is.leaves).filter((change) => !isOurs(fact, change))
    return changes.length === 0 ? [] : [{ fact: fact.id, what: fact.what, changes }]
  })
}

/** A line per field: `spec.imageTag of kubevirts/kubevirt in namespace kubevirt was v1.7.0, is v1.7.3`. */
export function driftLines(drift: readonly Drift[]): readonly string[] {
  return drift.flatMap(({ fact, what, changes, unread }) =>
    unread === undefined
      ? changes.map((change) => changeLine(fact, what, change))
      : [`${what} cannot be compared: ${unread}`],
  )
}

/** The leaves of some facts are the names of objects. */
function changeLine(fact: string, what: string, { path, from, to }: FieldChange): string {
  if (fact === 'nodes') return `node ${path} ${from === undefined ? 'is new' : 'is gone'}`
  const became = `was ${leafText(from)}, is ${leafText(to)}`
  return fact === 'crds' ? `${what} of ${path} ${became}` : `${path} of ${what} ${became}`
}

/** As a person writes it in a command. */
function leafText(leaf: Leaf | undefined): string {
  if (leaf === undefined) return 'absent'
  return typeof leaf === 'string' ? leaf : JSON.stringify(leaf)
}
