import type { ServerVersion } from '../cluster.ts'
import type { KubeObject } from '../object.ts'
import { shortened } from './body-in-words.ts'
import type { Failure } from './failure.ts'

/** An object as an API server sends it. 200 alone proves nothing: a gateway says so of a Status, a login page or `{}` too. */
export function isObject(answer: unknown): answer is KubeObject {
  return isRecord(answer) && isRecord(answer['metadata']) && typeof answer['metadata']['name'] === 'string'
}

/** What a delete is answered with where nothing of the object is left. */
export const isSuccess = (answer: unknown): boolean =>
  isRecord(answer) && answer['kind'] === 'Status' && answer['status'] !== 'Failure'

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

/** An API group with the versions that are served of it. */
export interface ApiGroup {
  versions: { version: string }[]
  preferredVersion?: { version: string }
}

export const isApiGroup = (answer: unknown): answer is ApiGroup =>
  isRecord(answer) &&
  Array.isArray(answer['versions']) &&
  answer['versions'].every((one) => isRecord(one) && typeof one['version'] === 'string')

export const isServerVersion = (answer: unknown): answer is ServerVersion =>
  isRecord(answer) && typeof answer['gitVersion'] === 'string'

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
