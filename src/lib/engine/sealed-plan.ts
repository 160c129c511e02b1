import { isRecord } from '../kube/object.ts'
import { createHash } from 'node:crypto'
import { type FieldChange, fieldChanges, type Leaf, type Leaves } from '../kube/field-changes.ts'
import { LineCounter, parseDocument } from 'yaml'
import { messageOf, usageError } from '../kube/errors.ts'
import { fits } from '../kube/shape.ts'
import shapes from './shapes.json' with { type: 'json' }

/** One thing of the cluster that a plan relied on, as it was. */
export interface SealedFact {
  /** Stable: `kubevirt`, `operator`, `crds`, `kubernetes`, `nodes`. */
  id: string
  /** For people: `kubevirts/kubevirt in namespace kubevirt`. */
  what: string
  /** sha256 over the leaves, hexadecimal: two plans that relied on the same have the same. */
  fingerprint: string
  leaves: Leaves
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
  /** Of what is sealed: a plan of another one is made anew. Plans of before have none. */
  format?: number
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
export function sealedFact(id: string, what: string, all: Leaves): SealedFact {
  const leaves = Object.fromEntries(
    Object.entries(all).filter(([, leaf]) => !isRecord(leaf) || Object.keys(leaf).length > 0),
  )
  return { id, what, fingerprint: sha256(leaves), leaves }
}

const sealFormat = 2

/** `over`: what else must not be edited afterwards. */
export function sealPlan(unsigned: Omit<Seal, 'digest' | 'format'>, over: unknown): Seal {
  const seal = { format: sealFormat, ...unsigned }
  return { ...seal, digest: sha256({ seal, over }) }
}

/** Nobody changed the seal, or what it was laid over; and what is shown of a fact is what its fingerprint is of. */
const isUnbroken = ({ digest, ...seal }: Seal, over: unknown): boolean =>
  seal.facts.every(({ leaves, fingerprint }) => fingerprint === sha256(leaves)) &&
  digest === sha256({ seal, over })

const sha256 = (value: unknown): string => createHash('sha256').update(canonical(value)).digest('hex')

/** JSON with its keys in order: a YAML file and a JSON file of the same plan have the same. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}

type Fields = Readonly<Record<string, unknown>>

/** A sealed document, as far as it is carried out again. */
export interface SealedPlan {
  file: string
  request: Fields
  accepted: readonly SealedRisk[]
  steps: readonly string[]
  seal: Seal
  document: Fields
}

interface SealedRisk {
  id: string
  reason?: string
  by?: string
}

/**
 * Reads YAML or JSON. Throws `usage`, with the line where there is one, for text that is broken or cut off, another kind of document, a
 * plan without a seal, and one that was edited after it was sealed.
 */
export function readSealed(text: string, file: string, kind: PlanKind): SealedPlan {
  const unusable = (where: string, why: string) =>
    usageError('not-a-plan', `cannot use the plan ${where}: ${why}`, {
      remedy: `make one with --to-file of ${makers[kind]}`,
    })
  const document = mapping(text, file, unusable)
  const is = `${word(document['apiVersion'])} ${word(document['kind'])}`
  if (is !== `kvup.io/v1alpha1 ${kind}`)
    throw unusable(file, `it is a document of ${is.trim() || 'no kind'}, not a kvup.io/v1alpha1 ${kind}`)
  const { request, accepted, steps, seal } = document
  if (!isSeal(seal, kind) || !isRecord(request) || !areRisks(accepted) || !Array.isArray(steps))
    throw unusable(file, 'its seal is incomplete: kvup cannot see which cluster it is of')
  if (seal.format !== sealFormat)
    throw usageError('plan-of-another-kvup', `${file} was sealed by another kvup, of another format`, {
      remedy: `${withoutPlan(kind, request)}     continues without --plan`,
    })
  const covered = coveredBy(document)
  if (!isUnbroken(seal, covered))
    throw usageError('plan-edited', `${file} was edited after it was sealed`, {
      remedy: `make a new plan with other flags: ${makers[kind]} --help`,
    })
  return { file, request, accepted, steps: covered.steps.map((step) => word(step['id'])), seal, document }
}

const makers = { UpgradePlan: 'kvup plan', EusPlan: 'kvup eus plan' } as const

type PlanKind = keyof typeof makers

/** The line that goes where the plan leads. Nobody has verified the plan: what is no version or method is left out. */
function withoutPlan(kind: PlanKind, { to, method }: Fields): string {
  const target = /^v?\d+(?:\.\d+)+$/u.test(word(to)) ? ` --to ${word(to)}` : ''
  const isTyped = ['image-tag', 'operator-manifest', 'olm'].includes(word(method))
  const line = kind === 'EusPlan' ? 'kvup eus run' : 'kvup upgrade'
  return `${line}${target}${isTyped ? ` --method ${word(method)}` : ''}`
}

/** In characters. A plan for 10,000 nodes has a million; larger ones take the memory that is there. */
const longest = 20_000_000

function mapping(text: string, file: string, unusable: (where: string, why: string) => Error): Fields {
  if (text.trim() === '') throw unusable(file, 'it is empty')
  if (text.length > longest) throw unusable(file, 'it is too large: more than 20 MB')
  const lineCounter = new LineCounter()
  const parsed = parseDocument(text, { lineCounter, prettyErrors: false })
  const [error] = parsed.errors
  if (error)
    throw unusable(`${file}:${lineCounter.linePos(error.pos[0]).line}`, `it is broken: ${error.message}`)
  let value: unknown
  try {
    // An alias that stands for a million others is refused while it is unfolded.
    value = parsed.toJS()
  } catch (cause) {
    throw unusable(file, `it is broken: ${messageOf(cause)}`)
  }
  if (!isRecord(value)) throw unusable(`${file}:1`, 'it has no document')
  return value
}

const word = (value: unknown) => (typeof value === 'string' ? value : '')

/** What a plan relies on: each of it is a fact of the seal, or among what could not be sealed. */
const reliedUpon: Readonly<Record<PlanKind, readonly string[]>> = {
  UpgradePlan: ['kubevirt', 'operator', 'crds', 'kubernetes', 'nodes'],
  EusPlan: ['platform', 'pools', 'subscription', 'hyperconverged'],
}

/** A seal whose every part is of the type that is read later, and that leaves nothing out. Whoever can make one can put anything into it. */
function isSeal(value: unknown, kind: PlanKind): value is Seal {
  if (!fits(value, shapes.seal)) return false
  const { facts, unsealed } = value as Seal
  const ids = [...facts, ...unsealed].map(({ id }) => id)
  return new Set(ids).size === ids.length && reliedUpon[kind].every((id) => ids.includes(id))
}

const areRisks = (value: unknown): value is readonly SealedRisk[] => fits(value, shapes.risks)

/**
 * What the seal of a document is laid over: all that is carried out, and all that a person decides by. What a document lacks does not count. Commands are not among it, for they are
 * printed with the connection flags of whoever prints them.
 */
export function coveredBy(document: Fields): {
  readonly steps: readonly Fields[]
  readonly [part: string]: unknown
} {
  const { plan, path, step } = covered
  const way = document['path']
  return {
    ...picked(document, plan),
    ...(isRecord(way) && { path: { ...picked(way, path), steps: records(way['steps']).map(hopOf) } }),
    findings: findingsOf(document),
    steps: records(document['steps']).map((one) => picked(one, step)),
  }
}

const { covered } = shapes

const findingsOf = (of: Fields) => records(of['findings']).map((one) => picked(one, covered.finding))

const hopOf = (hop: Fields): Fields => ({ ...picked(hop, covered.pathStep), findings: findingsOf(hop) })

const picked = (from: Fields, keys: readonly string[]): Fields =>
  Object.fromEntries(keys.map((key) => [key, from[key]]))

const records = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map((one: unknown) => (isRecord(one) ? one : {})) : []

interface Drift {
  fact: string
  what: string
  changes: readonly FieldChange[]
  /** It cannot be read any more: whether it moved is not known. */
  unread?: string
}

export type Now = Pick<Seal, 'facts' | 'unsealed'>

/** Whether a change of a fact is what a step of this very plan does, which has begun. */
export type OwnWork = (fact: SealedFact, change: FieldChange) => boolean

/**
 * What moved since the plan was sealed, but for what its own steps moved: half executed, a fact may be as it was or as a begun step
 * leaves it (contract "Sealed plan"). Pure.
 */
export const driftOf = (sealedFacts: readonly SealedFact[], now: Now, isOurs: OwnWork): readonly Drift[] =>
  sealedFacts.flatMap((fact): Drift[] => {
    const { id, what } = fact
    const is = now.facts.find((one) => one.id === id)
    if (is === undefined) {
      const why = now.unsealed.find((one) => one.id === id)?.why ?? 'it is not there'
      return [{ fact: id, what, changes: [], unread: why }]
    }
    if (is.fingerprint === fact.fingerprint) return []
    const changes = fieldChanges(fact.leaves, is.leaves).filter((change) => !isOurs(fact, change))
    return changes.length === 0 ? [] : [{ fact: id, what, changes }]
  })

/** A line per field: `spec.imageTag of kubevirts/kubevirt in namespace kubevirt was v1.7.0, is v1.7.3`. */
export const driftLines = (drift: readonly Drift[]): readonly string[] =>
  drift.flatMap(({ fact, what, changes, unread }) =>
    unread === undefined
      ? changes.map((change) => changeLine(fact, what, change))
      : [`${what} cannot be compared: ${unread}`],
  )

/** The leaves of some facts are the names of objects. */
function changeLine(fact: string, what: string, { path, from, to }: FieldChange): string {
  if (fact === 'nodes') return `node ${path} ${from === undefined ? 'is new' : 'is gone'}`
  const became = `was ${leafText(from)}, is ${leafText(to)}`
  return fact === 'crds' ? `${what} of ${path} ${became}` : `${path} of ${what} ${became}`
}

const leafText = (leaf: Leaf | undefined): string =>
  leaf === undefined ? 'absent' : typeof leaf === 'string' ? leaf : JSON.stringify(leaf)
