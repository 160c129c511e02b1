import { LineCounter, parseDocument } from 'yaml'
import { coveredBy } from './covered.ts'
import { usageError } from '../system/errors.ts'
import { isUnbroken, type Seal } from './seal.ts'
import { areRisks, isRecord, isSeal, type SealedRisk } from './sealed-shape.ts'

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
    throw unusable(file, 'it carries no whole seal: nothing tells which cluster it is of')
  const covered = coveredBy(document)
  if (!isUnbroken(seal, covered))
    throw usageError(
      'plan-edited',
      `${file} was edited after it was sealed: it is no longer what was planned`,
      {
        remedy: `make it anew with other flags: ${makers[kind]} --help`,
      },
    )
  return { file, request, accepted, steps: covered.steps.map((step) => word(step['id'])), seal, document }
}

/** The kinds of documents that are carried out again, by the command that makes them. */
const makers = { UpgradePlan: 'kvup plan', EusPlan: 'kvup eus plan' } as const
const targets = { UpgradePlan: ' --to VERSION', EusPlan: '' } as const

export type PlanKind = keyof typeof makers

/** In characters. A plan for 10,000 nodes has a million; larger ones take the memory that is there. */
const longest = 20_000_000

type Unusable = (where: string, why: string) => Error

function mapping(text: string, file: string, unusable: Unusable): Record<string, unknown> {
  if (text.trim() === '') throw unusable(file, 'it is empty')
  if (text.length > longest) throw unusable(file, 'it is larger than any plan: more than 20 MB')
  const lineCounter = new LineCounter()
  const parsed = parseDocument(text, { lineCounter, prettyErrors: false })
  const [error] = parsed.errors
  if (error)
    throw unusable(`${file}:${lineCounter.linePos(error.pos[0]).line}`, `it is broken: ${error.message}`)
  const value = tried(
    () => parsed.toJS() as unknown,
    (why) => unusable(file, why),
  )
  if (!isRecord(value)) throw unusable(`${file}:1`, 'there is no document in it')
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
      remedy: `${makers[kind]}${targets[kind]} -o yaml      makes one`,
    })

const word = (value: unknown) => (typeof value === 'string' ? value : '')
const isList = (value: unknown): value is unknown[] => Array.isArray(value)
