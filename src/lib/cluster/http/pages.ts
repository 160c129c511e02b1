import { ApiError } from '../../system/errors.ts'
import type { Page, Where } from '../cluster.ts'
import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import { patientReads } from './backoff.ts'
import { type Chunk, chunk } from './chunk.ts'
import type { Requests } from './requests.ts'

/** A continue token that expires (410) again before a page has come is the server's fault, not slowness of ours. */
const restarts = 5

/**
 * All pages. A continue token lives 5 minutes; when it has expired the list begins again and leaves out what was
 * handed over already: lists are ordered by namespace and name.
 */
export async function* allPages<T extends KubeObject>(
  requests: Requests,
  kind: Kind<T>,
  where: Where,
): AsyncGenerator<Page<T>> {
  let token: string | undefined
  let last = ''
  let restarted = 0
  do {
    const page = await chunk(requests, { kind, where, patience: patientReads }, token).catch(expired)
    if (page instanceof ApiError) {
      if (token === undefined || ++restarted > restarts) throw page
      token = undefined
      continue
    }
    const fresh = restarted > 0 ? page.items.filter((item) => keyOf(item) > last) : page.items
    if (fresh.length > 0 || page.next === undefined) yield pageOf(page, fresh)
    last = fresh.reduce((highest, item) => (keyOf(item) > highest ? keyOf(item) : highest), last)
    token = page.next
    if (token === undefined) return
  } while (true)
}

function expired(error: unknown): ApiError {
  if (error instanceof ApiError && error.status === 410) return error
  throw error
}

function pageOf<T>({ remaining, resourceVersion }: Chunk<T>, items: readonly T[]): Page<T> {
  return { items, resourceVersion, ...(remaining !== undefined && { remaining }) }
}

function keyOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`
}
