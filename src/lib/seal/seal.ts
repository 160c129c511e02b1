import { createHash } from 'node:crypto'
import type { FieldChange, Leaves } from '../cluster/leaves.ts'

/** One thing of the cluster that a plan relied on, as it was. */
export interface SealedFact {
  /** Stable: `kubevirt`, `operator`, `crds`, `kubernetes`, `nodes`. */
  id: string
  /** For people: `kubevirts/kubevirt in namespace kubevirt`. */
  what: string
  /** sha256 over the leaves, hexadecimal: two plans that relied on the same have the same. */
  fingerprint: string
  leaves: Leaves
  /** What steps of this plan make of it, as far as they could be rehearsed. */
  becomes?: readonly Becomes[]
}

/** `by`: who worked it out. What kvup works out itself lacks the defaults that the server adds. */
export interface Becomes {
  step: string
  by: 'server' | 'client'
  fields: readonly FieldChange[]
}

/** What could not be read, so that nothing is known of its drift. */
export interface Unsealed {
  id: string
  why: string
}

/** What ties a plan to the cluster that it was made for (contract "Sealed plan"). */
export interface Seal {
  uid: string
  /** RFC 3339. */
  at: string
  /** user@host. */
  by: string
  /** The uid of the namespace kube-system. */
  cluster: string
  kvup: string
  facts: readonly SealedFact[]
  unsealed: readonly Unsealed[]
  /** sha256 over the rest of the seal and over what is asked for: an edited plan is another plan. */
  digest: string
}

/** Absent and empty are the same to a cluster. */
export function sealedFact(id: string, what: string, leaves: Leaves): SealedFact {
  const kept = Object.fromEntries(Object.entries(leaves).filter(([, leaf]) => !isEmptyObject(leaf)))
  return { id, what, fingerprint: sha256(kept), leaves: kept }
}

/** `over`: what else must not be edited afterwards. */
export function sealed(seal: Omit<Seal, 'digest'>, over: unknown): Seal {
  return { ...seal, digest: digestOf(seal, over) }
}

/** Nobody changed the seal, or what it was laid over; and what is shown of a fact is what its fingerprint is of. */
export function isUnbroken({ digest, ...seal }: Seal, over: unknown): boolean {
  if (seal.facts.some(({ leaves, fingerprint }) => fingerprint !== sha256(leaves))) return false
  return digest === digestOf(seal, over)
}

const digestOf = (seal: Omit<Seal, 'digest'>, over: unknown): string => sha256({ seal, over })

function sha256(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex')
}

/** JSON with its keys in order: a YAML file and a JSON file of the same plan have the same. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}

function isEmptyObject(leaf: unknown): boolean {
  return typeof leaf === 'object' && leaf !== null && !Array.isArray(leaf) && Object.keys(leaf).length === 0
}
