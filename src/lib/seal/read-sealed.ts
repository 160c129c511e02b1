import { LineCounter, parseDocument } from 'yaml'
import { usageError } from '../system/errors.ts'
import { isUnbroken, type Seal } from './seal.ts'

/** A sealed document, as far as it is carried out again. */
export interface SealedPlan {
  file: string
  request: Readonly<Record<string, unknown>>
  accepted: readonly { id: string; reason?: string; by?: string }[]
  steps: readonly string[]
  seal: Seal
}

/** What the seal is laid over: what is asked for, which risks were taken, which steps that makes. */
interface Covered {
  request: unknown
  accepted: unknown
  steps: readonly string[]
}

/**
 * Reads YAML or JSON. Throws `usage`, with the line where there is one, for text that is broken or cut off, another kind of document, a
 * plan without a seal, and one that was edited after it was sealed.
 */
export function readSealed(text: string, file: string, kind: string): SealedPlan {
  const document = mapping(text, file)
  const is = `${word(document['apiVersion'])} ${word(document['kind'])}`
  if (is !== `kvup.io/v1alpha1 ${kind}`)
    throw unusable(file, `it is a document of ${is.trim() || 'no kind'}, not a kvup.io/v1alpha1 ${kind}`)
  const { request, accepted, steps, seal } = document
  if (!isSeal(seal) || !isRecord(request) || !isList(accepted) || !isList(steps))
    throw unusable(file, 'it carries no whole seal: nothing tells which cluster it is of')
  const covered: Covered = {
    request,
    accepted,
    steps: steps.map((step) => (isRecord(step) ? word(step['id']) : '')),
  }
  if (!isUnbroken(seal, covered))
    throw usageError(
      'plan-edited',
      `${file} was edited after it was sealed: it is no longer what was planned`,
      {
        remedy: 'make it anew with other flags: kvup plan --help',
      },
    )
  return { file, request, accepted: accepted as SealedPlan['accepted'], steps: covered.steps, seal }
}

function mapping(text: string, file: string): Record<string, unknown> {
  if (text.trim() === '') throw unusable(file, 'it is empty')
  const lineCounter = new LineCounter()
  const parsed = parseDocument(text, { lineCounter, prettyErrors: false })
  const [error] = parsed.errors
  if (error)
    throw unusable(`${file}:${lineCounter.linePos(error.pos[0]).line}`, `it is broken: ${error.message}`)
  const value = tried(() => parsed.toJS() as unknown, file)
  if (!isRecord(value)) throw unusable(`${file}:1`, 'there is no document in it')
  return value
}

/** An alias that stands for a million others is refused while it is unfolded. */
function tried<T>(work: () => T, file: string): T {
  try {
    return work()
  } catch (cause) {
    throw unusable(file, `it is broken: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function unusable(where: string, why: string): Error {
  return usageError('not-a-plan', `cannot use the plan ${where}: ${why}`, {
    remedy: 'kvup plan --to VERSION -o yaml      makes one',
  })
}

const word = (value: unknown) => (typeof value === 'string' ? value : '')
const isList = (value: unknown): value is unknown[] => Array.isArray(value)
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isSeal(value: unknown): value is Seal {
  if (!isRecord(value)) return false
  const words = ['uid', 'at', 'by', 'cluster', 'kvup', 'digest'].every(
    (key) => typeof value[key] === 'string',
  )
  return words && isList(value['facts']) && value['facts'].every(isFact) && isList(value['unsealed'])
}

function isFact(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value['leaves'])) return false
  const becomes = value['becomes'] ?? []
  const rehearsed = isList(becomes) && becomes.every((one) => isRecord(one) && isList(one['fields']))
  return rehearsed && ['id', 'what', 'fingerprint'].every((key) => typeof value[key] === 'string')
}
