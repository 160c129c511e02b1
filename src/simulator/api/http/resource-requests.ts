import type { ServerResponse } from 'node:http'
import { ApiError } from '../../../lib/kube/errors.ts'
import type { Access } from '../../../lib/kube/cluster.ts'
import { groupOf, type KubeObject } from '../../../lib/kube/object.ts'
import { badRequest, notFound, Refusal, unsupportedBody } from '../api-refusal.ts'
import { type ApiRequest, type Caller, decide, perform, rulesFor } from '../api-request.ts'
import { at, copy, type Json, text, words } from '../json.ts'
import { selection, shownAs } from '../list-options.ts'
import { patchTypes } from '../patch.ts'
import type { Listing, Removal, Store } from '../store.ts'
import { callSubresource } from '../subresources.ts'
import { type Answer, type Exchange, failure, flag, objectBody, ok } from './exchange.ts'

/** Everything on a resource but watches. Throws Refusals. */
export function answerResource(store: Store, exchange: Exchange): Answer {
  const { route, method, kind, ref, write } = exchange
  if (route.name === undefined) return onCollection(store, exchange)
  if (route.subresource !== undefined && route.subresource !== 'status') return onSubresource(store, exchange)
  switch (method) {
    case 'GET': {
      const found = store.read(kind, ref)
      if (!found) throw notFound(route, ref.name)
      return shown(store, exchange, found)
    }
    case 'PUT':
      return shown(store, exchange, store.update(kind, ref, readObject(exchange), write))
    case 'PATCH':
      return patch(store, exchange)
    case 'DELETE':
      return remove(store, exchange)
    default:
      throw methodNotAllowed()
  }
}

const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    details: {},
  })

function onCollection(store: Store, exchange: Exchange): Answer {
  const { route, method, caller, kind } = exchange
  const review = reviews[route.plural]
  if (method === 'POST' && review) return { status: 201, body: review(store, caller, objectBody(exchange)) }
  if (method === 'GET') return list(store, exchange)
  if (method === 'POST') return create(store, exchange)
  if (method !== 'DELETE') throw methodNotAllowed()
  for (const { metadata } of store.list(kind, listingOf(exchange)).items)
    store.remove(kind, metadata, removal(exchange))
  return list(store, exchange)
}

function create(store: Store, exchange: Exchange): Answer {
  const given = readObject(exchange)
  const { namespace } = exchange.route
  const { metadata } = given
  if (namespace !== undefined && metadata.namespace !== undefined && metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  const made = store.create(exchange.kind, placed(given, namespace), exchange.write)
  return { ...shown(store, exchange, made), status: 201 }
}

/** It reads a dry run from the body alone, and would really restart (lab "Seen with workloads" 15). */
const isOfVirtApi = ({ apiVersion }: Exchange['route']) => apiVersion.startsWith('subresources.kubevirt.io/')

function onSubresource(store: Store, { route, kind, ref, body, query, caller, write }: Exchange): Answer {
  const answer = callSubresource(store, caller, {
    kind,
    ref,
    name: route.subresource ?? '',
    body: (body ?? {}) as Json,
    dryRun:
      (write.dryRun && !isOfVirtApi(route)) ||
      words(body, 'deleteOptions', 'dryRun').includes('All') ||
      words(body, 'dryRun').includes('All'),
    parameters: Object.fromEntries(query),
  })
  return typeof answer === 'string' ? ok(answer, 'text/plain') : ok(answer)
}

function patch(store: Store, exchange: Exchange): Answer {
  const { patchType, query, body, kind, ref, write, route } = exchange
  if (patchType === undefined) throw unsupportedBody(Object.keys(patchTypes))
  if (patchType === 'apply' && !query.has('fieldManager'))
    throw new Refusal(
      422,
      'Invalid',
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      { details: { group: 'meta.k8s.io', kind: 'PatchOptions' } },
    )
  const existed = store.read(kind, ref) !== undefined
  const change =
    patchType === 'apply'
      ? { type: patchType, body: placed(readObject(exchange), route.namespace), force: flag(query, 'force') }
      : { type: patchType, body }
  return { ...shown(store, exchange, store.patch(kind, ref, change, write)), status: existed ? 200 : 201 }
}

const placed = (object: KubeObject, namespace: string | undefined): KubeObject =>
  namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }

function remove(store: Store, exchange: Exchange): Answer {
  const { kind, ref } = exchange
  const { metadata, ...gone } = store.remove(kind, ref, removal(exchange))
  if (metadata.deletionTimestamp !== undefined) return ok({ ...gone, metadata })
  const group = groupOf(kind) || undefined
  const details = copy({ name: ref.name, group, kind: kind.plural, uid: metadata.uid })
  return ok({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details })
}

const removal = ({ body, write }: Exchange): Removal => ({
  ...write,
  only: {
    uid: text(body, 'preconditions', 'uid'),
    resourceVersion: text(body, 'preconditions', 'resourceVersion'),
  },
  orphan: text(body, 'propagationPolicy') === 'Orphan',
  now: at(body, 'gracePeriodSeconds') === 0,
})

function readObject(exchange: Exchange): KubeObject {
  const body = objectBody(exchange)
  return { ...body, metadata: { ...(body['metadata'] as object | undefined) } } as unknown as KubeObject
}

function listingOf({ route, query }: Exchange): Listing {
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
  const { query, kind } = exchange
  const { items, resourceVersion, continue: token, remaining } = store.list(kind, listingOf(exchange))
  // As the real one: the count is only known where no selector hides some.
  const isWhole = !query.has('labelSelector') && !query.has('fieldSelector')
  const metadata = copy({
    resourceVersion,
    continue: token,
    remainingItemCount: isWhole ? remaining : undefined,
  })
  const form = formOf(exchange)
  if (form === 'table') return ok(tableOf(store, exchange, { objects: items, metadata }))
  if (form === 'object') return ok({ kind: `${kind.kind}List`, apiVersion: kind.apiVersion, metadata, items })
  const all = items.map((o) => metadataOf(o))
  return ok({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items: all })
}

const shown = (store: Store, exchange: Exchange, found: KubeObject): Answer =>
  ok(formed(store, exchange, found))

/** One object as the client wants it. */
function formed(store: Store, exchange: Exchange, object: KubeObject, headless = false): object {
  const form = formOf(exchange)
  if (form === 'object') return object
  if (form === 'metadata') return metadataOf(object)
  const { resourceVersion } = object.metadata
  return tableOf(store, exchange, { objects: [object], metadata: { resourceVersion }, headless })
}

/** How the client wants objects: whole, as rows of a Table, or their metadata only. */
function formOf({ accept = '' }: Exchange): 'object' | 'table' | 'metadata' {
  const first = accept.split(',').find((part) => part.includes('as=') || part.includes('json')) ?? ''
  if (first.includes('as=Table')) return 'table'
  return first.includes('as=PartialObjectMetadata') ? 'metadata' : 'object'
}

interface Rows {
  readonly objects: readonly KubeObject[]
  readonly metadata: Json
  /** A watch sends the columns once. */
  readonly headless?: boolean
}

/** `meta.k8s.io/v1` Table with the kind's printer columns. */
function tableOf(store: Store, { kind, query }: Exchange, { objects, metadata, headless }: Rows): Json {
  const now = store.clock.now()
  const include = query.get('includeObject') ?? 'Metadata'
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
    metadata,
    columnDefinitions: headless ? null : columnDefinitions,
    rows: objects.map((object) => ({
      cells: kind.columns.map((column) => column.cell(object, now)),
      object: include === 'None' ? null : include === 'Object' ? object : metadataOf(object),
    })),
  }
}

const metadataOf = ({ metadata }: KubeObject): Json => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
})

const bookmarkEvery = 60_000

interface Watch {
  readonly store: Store
  readonly exchange: Exchange
  readonly response: ServerResponse
}

/** Streams changes until the client goes, or `timeoutSeconds` pass. Resolves when it is over. */
export async function watch({ store, exchange, response }: Watch, request: ApiRequest): Promise<void> {
  const { caller, kind, query } = exchange
  const over = new AbortController()
  response.on('close', () => over.abort())
  const send = (type: string, object: object) => {
    if (!over.signal.aborted) response.write(`${JSON.stringify({ type, object })}\n`)
  }
  const mark = (more: object = {}) => {
    const metadata = { resourceVersion: String(store.revision), creationTimestamp: null, ...more }
    send('BOOKMARK', { kind: kind.kind, apiVersion: kind.apiVersion, metadata })
  }
  const matches = selection(kind, listingOf(exchange))
  perform(store, caller, { ...request, verb: 'watch' }, () => undefined)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  let headless = false
  const tell = (type: string, object: KubeObject) => {
    send(type, formed(store, exchange, object, headless))
    headless = true
  }
  const listener: Parameters<Store['watch']>[1] = (event) => {
    const type = shownAs(event, matches)
    if (type) tell(type, event.object)
  }
  const from = query.get('resourceVersion') ?? ''
  const initial = flag(query, 'sendInitialEvents')
  const isFresh = from === '' || from === '0' || initial
  if (isFresh) {
    const { items } = store.list(kind, { ...listingOf(exchange), limit: undefined })
    for (const object of items) tell('ADDED', object)
    if (initial) mark({ annotations: { 'k8s.io/initial-events-end': 'true' } })
  }
  let stop: (() => void) | undefined
  try {
    stop = store.watch(kind, listener, isFresh ? undefined : Number(from))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    send('ERROR', failure(error).body as object)
  }
  await lifetime({ store, exchange }, over.signal, () => {
    if (flag(query, 'allowWatchBookmarks')) mark()
  })
  stop?.()
  response.end()
}

/** Bookmarks on the way, one at the end, and the end itself. */
async function lifetime(
  { store, exchange }: Omit<Watch, 'response'>,
  over: AbortSignal,
  mark: () => void,
): Promise<void> {
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

type Review = (store: Store, caller: Caller, body: Json) => Json

/** Kinds that are questions: nothing is stored. */
const reviews: Readonly<Record<string, Review>> = {
  selfsubjectaccessreviews: (store, caller, body) => {
    const { allowed, reason } = decide(store, caller, accessOf(at(body, 'spec', 'resourceAttributes')))
    return { ...body, status: { allowed, ...(reason !== '' && { reason }) } }
  },
  selfsubjectrulesreviews: (store, caller, body) => {
    const everything = [{ rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] }]
    const granted = caller.groups.includes('system:masters')
      ? everything
      : rulesFor(store, caller, text(body, 'spec', 'namespace'))
    const resourceRules = granted.flatMap<unknown>(({ rules }) => rules)
    return { ...body, status: { resourceRules, nonResourceRules: [], incomplete: false } }
  },
  selfsubjectreviews: (_store, { user, groups }, body) => ({
    ...body,
    metadata: { creationTimestamp: null },
    status: { userInfo: { username: user, groups } },
  }),
}

function accessOf(attributes: unknown): Access {
  const given = (name: string) => text(attributes, name) ?? ''
  const optional = ['subresource', 'namespace', 'name'].filter((name) => given(name) !== '')
  return {
    verb: given('verb'),
    group: given('group'),
    resource: given('resource'),
    ...Object.fromEntries(optional.map((name) => [name, given(name)])),
  }
}
