import type { KubeObject } from '../object.ts'
import { shortened } from './body-in-words.ts'
import type { Failure } from './failure.ts'

/** An object as an API server sends it. 200 alone proves nothing: a gateway says so of a Status, a login page or `{}` too. */
export function isObject(answer: unknown): answer is KubeObject {
  return isRecord(answer) && isRecord(answer['metadata']) && typeof answer['metadata']['name'] === 'string'
}

export interface ListBody {
  items: KubeObject[] | null
  metadata?: { continue?: string; remainingItemCount?: number; resourceVersion?: string }
}

/** A list; one without items says `null` or `[]`, and never leaves them out. */
export function isList(answer: unknown): answer is ListBody {
  if (!isRecord(answer) || !isRecord(answer['metadata'] ?? {})) return false
  const { items } = answer
  return items === null || (Array.isArray(items) && items.every(isObject))
}

/** The answer of somebody who is no API server, or not in its right mind: what it means for the cluster is unknown. */
export function unlike(what: string, answer: unknown): Failure {
  const said = answer === undefined ? 'nothing' : shortened(JSON.stringify(answer), 120)
  return {
    status: 0,
    statusReason: '',
    message: `the answer is not ${what}, but ${said}`,
    cause: 'other',
    namesObject: false,
    foreign: true,
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
