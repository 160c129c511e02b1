import { ApiError } from '../errors.ts'
import type { Page, Ref, Where } from '../cluster.ts'
import { type Kind, type KubeObject, keyOf, withoutNulls } from '../object.ts'
import { type Patience, patientReads } from './backoff.ts'
import { type Failure, isList, unlike } from './failure.ts'
import type { Requests } from './requests.ts'
import { subjectOf } from './api-error.ts'

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
  let last = ''
  const course = new PageCourse(where)
  for (let restarted = 0; ; restarted++) {
    let begun = false
    try {
      for await (const page of chunks(requests, { kind, where, patience: patientReads }, course)) {
        begun = true
        const fresh = restarted > 0 ? page.items.filter((item) => keyOf(item) > last) : page.items
        if (fresh.length > 0 || page.next === undefined) yield pageOf(page, fresh)
        last = fresh.reduce((highest, item) => (keyOf(item) > highest ? keyOf(item) : highest), last)
      }
      return
    } catch (error) {
      const isExpired = error instanceof ApiError && error.status === 410
      if (!isExpired || !begun || restarted === restarts) throw error
    }
  }
}

/** Page after page, as they come. Throws where the list has no end. */
export async function* chunks<T extends KubeObject>(
  requests: Requests,
  listing: Listing<T>,
  course = new PageCourse(listing.where),
): AsyncGenerator<Chunk<T>> {
  let token: string | undefined
  do {
    const page: Chunk<T> = await chunk(requests, listing, token)
    const lost = course.astray(page, token)
    if (lost !== undefined)
      throw requests.error(lost, subjectOf('list', listing.kind, { namespace: listing.where.namespace }))
    yield page
    token = page.next
  } while (token !== undefined)
}

/** Nothing has so many objects: half a million at once, and 500 at a time as many as etcd holds. */
const mostPages = 10_000
/** A server may filter all of a page away, and does not do so for ever. */
const mostEmpty = 50

/** What shows that a list has no end: a token that comes again, page after page without an object, or more pages than there can be. */
export class PageCourse {
  readonly #observed = new Set<string>()
  readonly #filters: boolean
  #pages = 0
  #empty = 0

  constructor({ labels, fields }: { labels?: unknown; fields?: unknown }) {
    this.#filters = labels !== undefined || fields !== undefined
  }

  /** To be told of each page; `token` is the one that it was asked with. */
  astray(page: Chunk<KubeObject>, token: string | undefined): Failure | undefined {
    // A list that begins again has its tokens anew.
    if (token === undefined) this.#observed.clear()
    if (page.next === undefined) return undefined
    this.#empty = page.items.length === 0 ? this.#empty + 1 : 0
    const isAgain = this.#observed.has(page.next)
    this.#observed.add(page.next)
    const isEndless = ++this.#pages > mostPages || this.#empty > (this.#filters ? mostEmpty : 5)
    if (!isAgain && !isEndless) return undefined
    return unlike('the next page of a list that ends', {
      metadata: { continue: page.next },
      pages: this.#pages,
    })
  }
}

const pageOf = <T>({ remaining, resourceVersion, next }: Chunk<T>, items: readonly T[]): Page<T> => ({
  items,
  resourceVersion,
  ...(remaining !== undefined && { remaining }),
  ...(next === undefined && { isLast: true }),
})

export interface Chunk<T> extends Page<T> {
  next: string | undefined
}

interface Listing<T extends KubeObject> {
  kind: Kind<T>
  where: Where
  patience: Patience
  signal?: AbortSignal
}

/** Kubernetes API concepts, "Metadata-only fetches". */
const metadataList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'

/** As many as client-go asks for at once. */
const pageSize = 500

/**
 * One page; every item says what it is, which list items do not on the wire. An answer that is no list is a failure, and
 * never "there are none".
 */
async function chunk<T extends KubeObject>(
  requests: Requests,
  { kind, where, patience, signal }: Listing<T>,
  token: string | undefined,
): Promise<Chunk<T>> {
  const query = { limit: String(where.pageSize ?? pageSize), continue: token, ...selectors(where) }
  const subject = subjectOf('list', kind, { namespace: where.namespace })
  const answer = await requests.list({
    method: 'GET',
    path: withQuery(objectPath(kind, { namespace: where.namespace }), query),
    subject,
    patience,
    ...(kind.metadataOnly && { accept: metadataList }),
    ...(signal !== undefined && { signal }),
  })
  if (!isList(answer)) throw requests.error(unlike(`a list of ${kind.kind}`, answer), subject)
  const { items, metadata = {} } = answer
  if (metadata.continue && metadata.continue === token)
    throw requests.error(unlike('the next page', { metadata }), subject)
  const { remainingItemCount: remaining } = metadata
  return {
    items: (items ?? []).map((item) => named(kind, withoutNulls(item) as T)),
    resourceVersion: metadata.resourceVersion ?? '',
    next: metadata.continue || undefined,
    ...(remaining !== undefined && { remaining }),
  }
}

/** Metadata alone says of itself that it is a PartialObjectMetadata. */
const named = <T extends KubeObject>({ apiVersion, kind, metadataOnly }: Kind<T>, item: T): T =>
  metadataOnly ? { ...item, apiVersion, kind } : Object.assign({ apiVersion, kind }, item)

/** `/apis/apps/v1/namespaces/x/deployments/y`, without a name the collection, without a namespace all of them. */
export function objectPath(kind: Kind, { namespace, name }: Partial<Ref>, subresource?: string): string {
  const root = kind.apiVersion.includes('/') ? 'apis' : 'api'
  const scope = kind.namespaced && namespace ? ['namespaces', namespace] : []
  if (kind.namespaced && name && scope.length === 0)
    throw new Error(`${kind.plural} ${name}: which namespace?`)
  const parts = [...scope, kind.plural, name ?? '', ...(subresource ?? '').split('/')].filter(
    (part) => part !== '',
  )
  return ['', root, kind.apiVersion, ...parts.map(encodeURIComponent)].join('/')
}

export type Query = Readonly<Record<string, string | undefined>>

export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

export function selectors({ name, labels, fields }: Where): Query {
  const byName = name === undefined ? undefined : `metadata.name=${name}`
  const all = [byName, fields].filter((each) => each !== undefined && each !== '').join(',')
  return { labelSelector: labels || undefined, fieldSelector: all || undefined }
}
