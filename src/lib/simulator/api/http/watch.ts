import type { ServerResponse } from 'node:http'
import { ApiError } from '../../../system/errors.ts'
import type { ApiFaults } from '../../faults.ts'
import type { Json } from '../json.ts'
import { type ApiRequest, perform } from '../request.ts'
import type { Store } from '../store.ts'
import { seenAs, selection } from '../watch-filter.ts'
import { failure } from './answer.ts'
import { type Exchange, flag } from './exchange.ts'
import { listingOf } from './list-answer.ts'
import { formOf, metadataOf, tableOf } from './table.ts'

const bookmarkEvery = 60_000

interface Watch {
  readonly store: Store
  readonly exchange: Exchange
  readonly response: ServerResponse
  readonly faults: ApiFaults | undefined
}

/** Streams changes until the client goes, `timeoutSeconds` pass, or a fault ends it. Resolves when it is over. */
export async function watch(parts: Watch, request: ApiRequest): Promise<void> {
  const { store, exchange, response, faults } = parts
  const { caller, route, query } = exchange
  const asked = { ...request, verb: 'watch' }
  const fate = faults?.watchFate({ ...asked, user: caller.user })
  const over = new AbortController()
  response.on('close', () => over.abort())
  const line = liner(parts)
  let left = fate?.endsAfter ?? Infinity
  const send = (type: string, object: object) => {
    if (over.signal.aborted || fate?.silent() === true) return
    response.write(`${JSON.stringify({ type, object })}\n`)
    if (type !== 'BOOKMARK' && --left <= 0) over.abort()
  }
  const matches = selection(exchange.kind, listingOf(exchange))
  perform(store, caller, asked, () => undefined)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  if (left <= 0) over.abort()
  const stop = subscribe(parts, send, (event) => {
    const type = seenAs(event, matches)
    if (type) send(type, line(event.object))
  })
  await lifetime(parts, over.signal, () => {
    if (flag(query, 'allowWatchBookmarks'))
      send('BOOKMARK', bookmark(exchange.kind.kind, route.apiVersion, store.revision))
  })
  stop()
  response.end()
}

type Listener = Parameters<Store['watch']>[1]

/** From the revision that was asked for; without one, what exists comes first. */
function subscribe(
  { store, exchange }: Watch,
  send: (type: string, object: object) => void,
  listener: Listener,
): () => void {
  const { query, kind, route } = exchange
  const target = { ...kind, apiVersion: route.apiVersion }
  const from = query.get('resourceVersion') ?? ''
  const fresh = from === '' || from === '0'
  if (fresh || flag(query, 'sendInitialEvents')) {
    const { items, resourceVersion } = store.list(target, { ...listingOf(exchange), limit: undefined })
    for (const object of items)
      listener({ type: 'ADDED', object, before: undefined, resource: '', revision: Number(resourceVersion) })
    if (flag(query, 'sendInitialEvents')) {
      const mark = bookmark(kind.kind, route.apiVersion, store.revision)
      send('BOOKMARK', {
        ...mark,
        metadata: { ...(mark['metadata'] as Json), annotations: { 'k8s.io/initial-events-end': 'true' } },
      })
    }
    return store.watch(target, listener)
  }
  try {
    return store.watch(target, listener, Number(from))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    send('ERROR', failure(error).body as object)
    return () => undefined
  }
}

function liner({ store, exchange }: Watch): (object: Parameters<typeof metadataOf>[0]) => object {
  const { kind, accept, query } = exchange
  const form = formOf(accept)
  let headless = false
  return (object) => {
    if (form === 'object') return object
    if (form === 'metadata') return metadataOf(object)
    const include = query.get('includeObject') ?? 'Metadata'
    const { resourceVersion } = object.metadata
    const table = tableOf(kind, [object], {
      at: store.clock.now(),
      include,
      metadata: { resourceVersion },
      headless,
    })
    headless = true
    return table
  }
}

function bookmark(kind: string, apiVersion: string, revision: number): Json {
  return { kind, apiVersion, metadata: { resourceVersion: String(revision), creationTimestamp: null } }
}

/** Bookmarks on the way, one at the end, and the end itself. */
async function lifetime({ store, exchange }: Watch, over: AbortSignal, mark: () => void): Promise<void> {
  const seconds = Number(exchange.query.get('timeoutSeconds') ?? '0')
  const now = () => store.clock.now().getTime()
  const end = seconds > 0 ? now() + seconds * 1000 : Infinity
  while (!over.aborted && now() < end) {
    const next = Math.min(end, now() + bookmarkEvery)
    // A timer may fire a moment before its time: that is no time for a second bookmark.
    while (!over.aborted && now() < next) await store.clock.sleep(next - now(), over).catch(() => undefined)
    mark()
  }
}
