import type { KubeObject } from '../../../lib/kube/object.ts'
import { at, type Json, text, words } from '../json.ts'
import { badRequest, methodNotAllowed, noFieldManager, notFound, unsupportedBody } from '../api-refusal.ts'
import { type Patch, patchTypes } from '../patch.ts'
import type { Listing, Removal, Store, Write } from '../store.ts'
import { callSubresource } from '../subresources.ts'
import {
  type Answer,
  type Exchange,
  failure,
  flag,
  isDryRun,
  managerOf,
  objectBody,
  ok,
  success,
} from './exchange.ts'
import type { ServerResponse } from 'node:http'
import { ApiError } from '../../../lib/kube/errors.ts'
import { type ApiRequest, type Caller, decide, perform, rulesFor } from '../api-request.ts'
import { selection, shownAs } from '../list-options.ts'
import type { SimKind } from '../kinds/sim-kind.ts'
import type { Access } from '../../../lib/kube/cluster.ts'

/** Everything on a resource but watches. Throws Refusals. */
export function answerResource(store: Store, exchange: Exchange): Answer {
  const { route, method } = exchange
  if (route.name === undefined) return onCollection(store, exchange)
  if (route.subresource !== undefined && route.subresource !== 'status') return onSubresource(store, exchange)
  switch (method) {
    case 'GET':
      return read(store, exchange)
    case 'PUT':
      return shown(
        store,
        exchange,
        store.update(targetKind(exchange), ref(exchange), readObject(exchange), write(exchange)),
      )
    case 'PATCH':
      return patch(store, exchange)
    case 'DELETE':
      return remove(store, exchange)
    default:
      throw methodNotAllowed()
  }
}

function onCollection(store: Store, exchange: Exchange): Answer {
  const { route, method, caller } = exchange
  const review = reviews[route.plural]
  if (method === 'POST' && review) return { status: 201, body: review(store, caller, objectBody(exchange)) }
  if (method === 'GET') return list(store, exchange)
  if (method === 'POST') return create(store, exchange)
  if (method !== 'DELETE') throw methodNotAllowed()
  for (const { metadata } of store.list(targetKind(exchange), listingOf(exchange)).items)
    store.remove(targetKind(exchange), metadata, removal(exchange))
  return list(store, exchange)
}

function create(store: Store, exchange: Exchange): Answer {
  const given = readObject(exchange)
  const { namespace } = exchange.route
  const { metadata } = given
  if (namespace !== undefined && metadata.namespace !== undefined && metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  const placed = namespace === undefined ? given : { ...given, metadata: { ...metadata, namespace } }
  const made = store.create(targetKind(exchange), placed, write(exchange))
  return { ...shown(store, exchange, made), status: 201 }
}

/** It reads a dry run from the body alone, and would really restart (lab "Seen with workloads" 15). */
const isOfVirtApi = ({ apiVersion }: Exchange['route']) => apiVersion.startsWith('subresources.kubevirt.io/')

function onSubresource(store: Store, exchange: Exchange): Answer {
  const { route, body, query, caller } = exchange
  const answer = callSubresource(store, caller, {
    kind: targetKind(exchange),
    ref: ref(exchange),
    name: route.subresource ?? '',
    body: (body ?? {}) as Json,
    dryRun:
      (isDryRun(exchange) && !isOfVirtApi(route)) ||
      words(body, 'deleteOptions', 'dryRun').includes('All') ||
      words(body, 'dryRun').includes('All'),
    parameters: Object.fromEntries(query),
  })
  return typeof answer === 'string' ? ok(answer, 'text/plain') : ok(answer)
}

function read(store: Store, exchange: Exchange): Answer {
  const { route } = exchange
  const found = store.read(targetKind(exchange), ref(exchange))
  if (!found) throw notFound(route, route.name ?? '')
  return shown(store, exchange, found)
}

function patch(store: Store, exchange: Exchange): Answer {
  const { patchType, query, body } = exchange
  if (patchType === undefined) throw unsupportedBody(Object.keys(patchTypes))
  const change: Patch =
    patchType === 'apply'
      ? { type: 'apply', body: applied(exchange), force: flag(query, 'force') }
      : { type: patchType, body }
  const existed = store.read(targetKind(exchange), ref(exchange)) !== undefined
  const kept = store.patch(targetKind(exchange), ref(exchange), change, write(exchange))
  return { ...shown(store, exchange, kept), status: existed ? 200 : 201 }
}

function applied(exchange: Exchange): KubeObject {
  const given = readObject(exchange)
  const { namespace } = exchange.route
  if (!exchange.query.has('fieldManager')) throw noFieldManager()
  return { ...given, metadata: { ...given.metadata, ...(namespace !== undefined && { namespace }) } }
}

function remove(store: Store, exchange: Exchange): Answer {
  const { route, kind } = exchange
  const gone = store.remove(targetKind(exchange), ref(exchange), removal(exchange))
  if (gone.metadata.deletionTimestamp !== undefined) return ok(gone)
  return ok(
    success({
      name: route.name,
      group: kind.apiVersion.split('/').slice(0, -1)[0],
      kind: route.plural,
      uid: gone.metadata.uid,
    }),
  )
}

function removal(exchange: Exchange): Removal {
  const { body } = exchange
  return {
    ...write(exchange),
    only: {
      uid: text(body, 'preconditions', 'uid'),
      resourceVersion: text(body, 'preconditions', 'resourceVersion'),
    },
    orphan: text(body, 'propagationPolicy') === 'Orphan',
    now: at(body, 'gracePeriodSeconds') === 0,
  }
}

const targetKind = ({ kind, route }: Exchange): Exchange['kind'] => ({
  ...kind,
  apiVersion: route.apiVersion,
})

function ref({ route }: Exchange): { name: string; namespace?: string } {
  const { name = '', namespace } = route
  return { name, ...(namespace !== undefined && { namespace }) }
}

function readObject(exchange: Exchange): KubeObject {
  const body = objectBody(exchange)
  return { ...body, metadata: { ...(body['metadata'] as object | undefined) } } as unknown as KubeObject
}

function write(exchange: Exchange): Write {
  const { route, caller } = exchange
  const on = route.subresource === 'status' ? 'status' : undefined
  return { manager: managerOf(exchange), on, dryRun: isDryRun(exchange), user: caller.user }
}

function shown(store: Store, { kind, accept, query }: Exchange, found: KubeObject): Answer {
  const form = formOf(accept)
  if (form === 'metadata') return ok(metadataOf(found))
  if (form === 'object') return ok(found)
  const { resourceVersion } = found.metadata
  const include = query.get('includeObject') ?? 'Metadata'
  return ok(tableOf(kind, [found], { at: store.clock.now(), include, metadata: { resourceVersion } }))
}

function listingOf({ route, query }: Pick<Exchange, 'route' | 'query'>): Listing {
  const limit = query.get('limit')
  return {
    namespace: route.namespace,
    labels: query.get('labelSelector') ?? undefined,
    fields: query.get('fieldSelector') ?? undefined,
    limit: limit === null ? undefined : Number(limit),
    continue: query.get('continue') ?? undefined,
  }
}

function list(store: Store, exchange: Exchange): Answer {
  const { route, query, kind, accept } = exchange
  const page = store.list(route as Exchange['kind'], listingOf(exchange))
  const metadata: Json = {
    resourceVersion: page.resourceVersion,
    ...(page.continue !== undefined && { continue: page.continue }),
    // As the real one: the count is only known where no selector hides some.
    ...(page.remaining !== undefined &&
      !query.has('labelSelector') &&
      !query.has('fieldSelector') && { remainingItemCount: page.remaining }),
  }
  const form = formOf(accept)
  if (form === 'table')
    return ok(
      tableOf(kind, page.items, {
        at: store.clock.now(),
        include: query.get('includeObject') ?? 'Metadata',
        metadata,
      }),
    )
  if (form === 'metadata')
    return ok({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      items: page.items.map((o) => metadataOf(o)),
    })
  return ok({ kind: `${kind.kind}List`, apiVersion: route.apiVersion, metadata, items: page.items })
}

const bookmarkEvery = 60_000

interface Watch {
  readonly store: Store
  readonly exchange: Exchange
  readonly response: ServerResponse
}

/** Streams changes until the client goes, or `timeoutSeconds` pass. Resolves when it is over. */
export async function watch(parts: Watch, request: ApiRequest): Promise<void> {
  const { store, exchange, response } = parts
  const { caller, route, query } = exchange
  const asked = { ...request, verb: 'watch' }
  const over = new AbortController()
  response.on('close', () => over.abort())
  const line = liner(parts)
  const send = (type: string, object: object) => {
    if (!over.signal.aborted) response.write(`${JSON.stringify({ type, object })}\n`)
  }
  const matches = selection(exchange.kind, listingOf(exchange))
  perform(store, caller, asked, () => undefined)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  const stop = subscribe(parts, send, (event) => {
    const type = shownAs(event, matches)
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

const bookmark = (kind: string, apiVersion: string, revision: number): Json => ({
  kind,
  apiVersion,
  metadata: { resourceVersion: String(revision), creationTimestamp: null },
})

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

/** How the client wants objects: whole, as rows of a Table, or their metadata only. */
type Form = 'object' | 'table' | 'metadata'

function formOf(accept: string | undefined): Form {
  const first = (accept ?? '').split(',').find((part) => part.includes('as=') || part.includes('json')) ?? ''
  if (first.includes('as=Table')) return 'table'
  return first.includes('as=PartialObjectMetadata') ? 'metadata' : 'object'
}

interface TableOptions {
  readonly at: Date
  /** `includeObject`: what each row carries of its object. */
  readonly include: string
  readonly metadata: Json
  /** A watch sends them once. */
  readonly headless?: boolean
}

/** `meta.k8s.io/v1` Table with the kind's printer columns. */
function tableOf(kind: SimKind, objects: readonly KubeObject[], options: TableOptions): Json {
  const columnDefinitions = kind.columns.map(({ name, type, priority = 0 }) => ({
    name,
    type,
    format: name === 'Name' ? 'name' : '',
    description: name,
    priority,
  }))
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: options.headless === true ? null : columnDefinitions,
    rows: objects.map((object) => ({
      cells: kind.columns.map((column) => column.cell(object, options.at)),
      object: carried(object, options.include),
    })),
  }
}

function carried(object: KubeObject, include: string): object | null {
  if (include === 'None') return null
  return include === 'Object' ? object : metadataOf(object)
}

const metadataOf = ({ metadata }: KubeObject): Json => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
})

type Review = (store: Store, caller: Caller, body: Json) => Json

/** Kinds that are questions: nothing is stored. */
const reviews: Readonly<Record<string, Review>> = {
  selfsubjectaccessreviews: (store, caller, body) => {
    const { allowed, reason } = decide(store, caller, accessOf(at(body, 'spec', 'resourceAttributes')))
    return { ...body, status: { allowed, ...(reason !== '' && { reason }) } }
  },
  selfsubjectrulesreviews: (store, caller, body) => ({
    ...body,
    status: {
      resourceRules: ruleList(store, caller, text(body, 'spec', 'namespace')),
      nonResourceRules: [],
      incomplete: false,
    },
  }),
  selfsubjectreviews: (_store, { user, groups }, body) => ({
    ...body,
    metadata: { creationTimestamp: null },
    status: { userInfo: { username: user, groups } },
  }),
}

function accessOf(attributes: unknown): Access {
  const optional = (name: string) => {
    const value = text(attributes, name)
    return value === undefined || value === '' ? {} : { [name]: value }
  }
  return {
    verb: text(attributes, 'verb') ?? '',
    group: text(attributes, 'group') ?? '',
    resource: text(attributes, 'resource') ?? '',
    ...optional('subresource'),
    ...optional('namespace'),
    ...optional('name'),
  }
}

function ruleList(store: Store, caller: Caller, namespace: string | undefined): unknown[] {
  if (caller.groups.includes('system:masters')) return [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
  return rulesFor(store, caller, namespace).flatMap(({ rules }) => rules)
}
