import type { KubeObject } from '../../../cluster/object.ts'
import { at, type Json, text, words } from '../json.ts'
import { badRequest, methodNotAllowed, notFound, unsupportedBody, noFieldManager } from '../refusal.ts'
import { patchTypes, type Patch } from '../patch.ts'
import type { Store } from '../store.ts'
import type { Removal, Write } from '../store-request.ts'
import { callSubresource } from '../subresource-call.ts'
import { type Answer, ok, success } from './answer.ts'
import { type Exchange, flag, isDryRun, managerOf, objectBody } from './exchange.ts'
import { list, listingOf } from './list-answer.ts'
import { reviews } from './reviews.ts'
import { formOf, metadataOf, tableOf } from './table.ts'

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
        store.update(target(exchange), ref(exchange), object(exchange), write(exchange)),
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
  for (const { metadata } of store.list(target(exchange), listingOf(exchange)).items)
    store.remove(target(exchange), metadata, removal(exchange))
  return list(store, exchange)
}

function create(store: Store, exchange: Exchange): Answer {
  const given = object(exchange)
  const { namespace } = exchange.route
  const { metadata } = given
  if (namespace !== undefined && metadata.namespace !== undefined && metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  const placed = namespace === undefined ? given : { ...given, metadata: { ...metadata, namespace } }
  const made = store.create(target(exchange), placed, write(exchange))
  return { ...shown(store, exchange, made), status: 201 }
}

/** It reads a dry run from the body alone, and would really restart (lab "Seen with workloads" 15). */
const isOfVirtApi = ({ apiVersion }: Exchange['route']) => apiVersion.startsWith('subresources.kubevirt.io/')

function onSubresource(store: Store, exchange: Exchange): Answer {
  const { route, body, query, caller } = exchange
  const answer = callSubresource(store, caller, {
    kind: target(exchange),
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
  const found = store.read(target(exchange), ref(exchange))
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
  const existed = store.read(target(exchange), ref(exchange)) !== undefined
  const kept = store.patch(target(exchange), ref(exchange), change, write(exchange))
  return { ...shown(store, exchange, kept), status: existed ? 200 : 201 }
}

function applied(exchange: Exchange): KubeObject {
  const given = object(exchange)
  const { namespace } = exchange.route
  if (!exchange.query.has('fieldManager')) throw noFieldManager()
  return { ...given, metadata: { ...given.metadata, ...(namespace !== undefined && { namespace }) } }
}

function remove(store: Store, exchange: Exchange): Answer {
  const { route, kind } = exchange
  const gone = store.remove(target(exchange), ref(exchange), removal(exchange))
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

function target({ kind, route }: Exchange): Exchange['kind'] {
  return { ...kind, apiVersion: route.apiVersion }
}

function ref({ route }: Exchange): { name: string; namespace?: string } {
  const { name = '', namespace } = route
  return { name, ...(namespace !== undefined && { namespace }) }
}

function object(exchange: Exchange): KubeObject {
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
