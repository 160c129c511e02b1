import { isRecord } from '../kube/object.ts'
import { createHash } from 'node:crypto'
import { type FieldChange, fieldChanges, type Leaf, type Leaves } from '../kube/field-changes.ts'
import { LineCounter, parseDocument } from 'yaml'
import { usageError } from '../kube/errors.ts'

/** One thing of the cluster that a plan relied on, as it was. */
export interface SealedFact {
  /** Stable: `kubevirt`, `operator`, `crds`, `kubernetes`, `nodes`. */
  id: string
  /** For people: `kubevirts/kubevirt in namespace kubevirt`. */
  what: string
  /** sha256 over the leaves, hexadecimal: two plans that relied on the same have the same. */
  fingerprint: string
  leaves: Leaves
  /** What steps of this plan make of it, as far as a dry run could tell. */
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
export function sealedFact(id: string, what: string, leaves: Leaves): SealedFact {
  const kept = Object.fromEntries(Object.entries(leaves).filter(([, leaf]) => !isEmptyObject(leaf)))
  return { id, what, fingerprint: sha256(kept), leaves: kept }
}

const sealFormat = 2

/** `over`: what else must not be edited afterwards. */
export function sealPlan(unsigned: Omit<Seal, 'digest' | 'format'>, over: unknown): Seal {
  const seal = { format: sealFormat, ...unsigned }
  return { ...seal, digest: digestOf(seal, over) }
}

/** Nobody changed the seal, or what it was laid over; and what is shown of a fact is what its fingerprint is of. */
function isUnbroken({ digest, ...seal }: Seal, over: unknown): boolean {
  if (seal.facts.some(({ leaves, fingerprint }) => fingerprint !== sha256(leaves))) return false
  return digest === digestOf(seal, over)
}

const digestOf = (seal: Omit<Seal, 'digest'>, over: unknown): string => sha256({ seal, over })

/** Two values that are written differently, as YAML and JSON are, have the same. */
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

function isEmptyObject(leaf: unknown): boolean {
  return typeof leaf === 'object' && leaf !== null && !Array.isArray(leaf) && Object.keys(leaf).length === 0
}

/** A sealed document, as far as it is carried out again. */
export interface SealedPlan {
  file: string
  request: Readonly<Record<string, unknown>>
  accepted: readonly SealedRisk[]
  steps: readonly string[]
  seal: Seal
  /** All of it, as it was sealed. */
  document: Readonly<Record<string, unknown>>
}

/**
 * Reads YAML or JSON. Throws `usage`, with the line where there is one, for text that is broken or cut off, another kind of document, a
 * plan without a seal, and one that was edited after it was sealed.
 */
export function readSealed(text: string, file: string, kind: PlanKind): SealedPlan {
  const unusable = refusing(kind)
  const document = mapping(text, file, unusable)
  const is = `${word(document['apiVersion'])} ${word(document['kind'])}`
  if (is !== `kvup.io/v1alpha1 ${kind}`)
    throw unusable(file, `it is a document of ${is.trim() || 'no kind'}, not a kvup.io/v1alpha1 ${kind}`)
  const { request, accepted, steps, seal } = document
  if (!isSeal(seal, kind) || !isRecord(request) || !areRisks(accepted) || !isList(steps))
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

/** The kinds of documents that are carried out again, by the command that makes them. */
const makers = { UpgradePlan: 'kvup plan', EusPlan: 'kvup eus plan' } as const

type PlanKind = keyof typeof makers

/** The line that goes where the plan leads. Nobody has verified the plan: what is no version or method is left out. */
function withoutPlan(kind: PlanKind, { to, method }: Readonly<Record<string, unknown>>): string {
  const line = kind === 'EusPlan' ? 'kvup eus run' : 'kvup upgrade'
  const target = /^v?\d+(?:\.\d+)+$/u.test(word(to)) ? ` --to ${word(to)}` : ''
  const isTyped = ['image-tag', 'operator-manifest', 'olm'].includes(word(method))
  return `${line}${target}${isTyped ? ` --method ${word(method)}` : ''}`
}

/** In characters. A plan for 10,000 nodes has a million; larger ones take the memory that is there. */
const longest = 20_000_000

type Unusable = (where: string, why: string) => Error

function mapping(text: string, file: string, unusable: Unusable): Record<string, unknown> {
  if (text.trim() === '') throw unusable(file, 'it is empty')
  if (text.length > longest) throw unusable(file, 'it is too large: more than 20 MB')
  const lineCounter = new LineCounter()
  const parsed = parseDocument(text, { lineCounter, prettyErrors: false })
  const [error] = parsed.errors
  if (error)
    throw unusable(`${file}:${lineCounter.linePos(error.pos[0]).line}`, `it is broken: ${error.message}`)
  const value = tried(
    () => parsed.toJS() as unknown,
    (why) => unusable(file, why),
  )
  if (!isRecord(value)) throw unusable(`${file}:1`, 'it has no document')
  return value
}

/** An alias that stands for a million others is refused while it is unfolded. */
function tried<T>(work: () => T, unusable: (why: string) => Error): T {
  try {
    return work()
  } catch (cause) {
    throw unusable(`it is broken: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

const refusing =
  (kind: PlanKind): Unusable =>
  (where, why) =>
    usageError('not-a-plan', `cannot use the plan ${where}: ${why}`, {
      remedy: `make one with --to-file of ${makers[kind]}`,
    })

const word = (value: unknown) => (typeof value === 'string' ? value : '')
const isList = (value: unknown): value is unknown[] => Array.isArray(value)

/** What a plan relies on, by the kind of its document: each of it is a fact of the seal, or among what could not be sealed. */
const reliedUpon: Readonly<Record<string, readonly string[]>> = {
  UpgradePlan: ['kubevirt', 'operator', 'crds', 'kubernetes', 'nodes'],
  EusPlan: ['platform', 'pools', 'subscription', 'hyperconverged'],
}

interface SealedRisk {
  id: string
  reason?: string
  by?: string
}

/** A seal whose every part is of the type that is read later, and that leaves nothing out. Whoever can make one can put anything into it. */
function isSeal(value: unknown, kind: string): value is Seal {
  if (!isRecord(value) || !hasTexts(value, ['uid', 'at', 'by', 'cluster', 'kvup', 'digest'])) return false
  const { facts, unsealed } = value
  if (!isListOf(facts, isFact) || !isListOf(unsealed, isUnsealed)) return false
  const ids = [...facts, ...unsealed].map(({ id }) => id)
  return new Set(ids).size === ids.length && (reliedUpon[kind] ?? []).every((id) => ids.includes(id))
}

const areRisks = (value: unknown): value is readonly SealedRisk[] =>
  isListOf(
    value,
    (one): one is SealedRisk =>
      isRecord(one) && hasTexts(one, ['id']) && isTextOrNone(one['reason']) && isTextOrNone(one['by']),
  )

const isUnsealed = (value: unknown): value is { id: string; why: string } =>
  isRecord(value) && hasTexts(value, ['id', 'why'])

function isFact(value: unknown): value is SealedFact {
  if (!isRecord(value) || !hasTexts(value, ['id', 'what', 'fingerprint'])) return false
  return isRecord(value['leaves']) && isListOf(value['becomes'] ?? [], isBecomes)
}

function isBecomes(value: unknown): value is object {
  if (!isRecord(value) || !hasTexts(value, ['step', 'by'])) return false
  return isListOf(value['fields'], (field): field is object => isRecord(field) && hasTexts(field, ['path']))
}

const isListOf = <T>(value: unknown, isOne: (one: unknown) => one is T): value is T[] =>
  Array.isArray(value) && value.every((one) => isOne(one))

const hasTexts = (value: Record<string, unknown>, keys: readonly string[]): boolean =>
  keys.every((key) => typeof value[key] === 'string')

const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === 'string'

/**
 * What the seal of a document is laid over: all that is carried out, and all that a person decides by. Commands are not among it, for they are printed
 * with the connection flags of whoever prints them.
 */
export function coveredBy(document: Readonly<Record<string, unknown>>): {
  readonly steps: readonly Readonly<Record<string, unknown>>[]
  readonly [part: string]: unknown
} {
  return {
    ...picked(document, [...readAndDone, ...ofWindow]),
    ...(isObject(document['path']) && { path: pathOf(document['path']) }),
    findings: records(document['findings']).map((finding) => picked(finding, ['id', 'level', 'summary'])),
    steps: records(document['steps']).map((step) => picked(step, ofStep)),
  }
}

/** Of a plan over several minors. */
const pathOf = (path: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...picked(path, ['between', 'ends']),
  steps: records(path['steps']).map(pathStepOf),
})

const pathStepOf = (step: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...picked(step, ['from', 'to', 'method', 'manifest', 'kubernetes', 'vms']),
  findings: records(step['findings']).map((finding) => picked(finding, ['id', 'level', 'summary'])),
})

/** What a document lacks does not count. */
const readAndDone = 'kubevirt from to method pausedMethods said accepted request manifest'.split(' ')
/** Of a plan of an EUS window. */
const ofWindow = [
  'hops',
  ...'flavour mode began channel pools healthChecks operator hyperconverged methods notes'.split(' '),
]
const ofStep = ['id', 'title', 'state', 'change', 'changes', 'overrides', 'keeps']

function picked(from: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, from[key]]))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return []
  return value.map((one: unknown) =>
    typeof one === 'object' && one !== null ? (one as Readonly<Record<string, unknown>>) : {},
  )
}

interface Drift {
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
