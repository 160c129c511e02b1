import { ApiError } from '../../system/errors.ts'
import type { Page, Where } from '../cluster.ts'
import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import { patientReads } from './backoff.ts'
import { type Chunk, chunk } from './chunk.ts'
import type { Failure } from './failure.ts'
import type { Requests } from './requests.ts'
import { unlike } from './shape.ts'
import { subjectOf } from './subject.ts'

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
  const course = new PageCourse(where)
  do {
    const page = await chunk(requests, { kind, where, patience: patientReads }, token).catch(expired)
    if (page instanceof ApiError) {
      if (token === undefined || ++restarted > restarts) throw page
      token = undefined
      continue
    }
    const lost = course.astray(page, token)
    if (lost !== undefined)
      throw requests.error(lost, subjectOf('list', kind, { namespace: where.namespace }))
    const fresh = restarted > 0 ? page.items.filter((item) => keyOf(item) > last) : page.items
    if (fresh.length > 0 || page.next === undefined) yield pageOf(page, fresh)
    last = fresh.reduce((highest, item) => (keyOf(item) > highest ? keyOf(item) : highest), last)
    token = page.next
    if (token === undefined) return
  } while (true)
}

/** Nothing has so many objects: half a million at once, and 500 at a time as many as etcd holds. */
const mostPages = 10_000
/** A server may filter all of a page away, and does not do so for ever. */
const mostEmpty = 50

/** What shows that a list has no end: a token that comes again, page after page without an object, or more pages than there can be. */
export class PageCourse {
  readonly #seen = new Set<string>()
  readonly #filters: boolean
  #pages = 0
  #empty = 0

  constructor({ labels, fields }: { labels?: unknown; fields?: unknown }) {
    this.#filters = labels !== undefined || fields !== undefined
  }

  /** To be told of each page; `token` is the one that it was asked with. */
  astray(page: Chunk<KubeObject>, token: string | undefined): Failure | undefined {
    // A list that begins again has its tokens anew.
    if (token === undefined) this.#seen.clear()
    if (page.next === undefined) return undefined
    this.#empty = page.items.length === 0 ? this.#empty + 1 : 0
    const isAgain = this.#seen.has(page.next)
    this.#seen.add(page.next)
    const isEndless = ++this.#pages > mostPages || this.#empty > (this.#filters ? mostEmpty : 5)
    if (!isAgain && !isEndless) return undefined
    return unlike('the next page of a list that ends', {
      metadata: { continue: page.next },
      pages: this.#pages,
    })
  }
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
