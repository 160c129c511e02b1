import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { actedOn } from '../../../cluster/acted-on.ts'
import { nameSelected } from '../field-selector.ts'
import type { ApiFaults } from '../../faults.ts'
import { patchTypes } from '../patch.ts'
import { type ApiRequest, type Caller, perform } from '../request.ts'
import type { Store } from '../store.ts'
import { accessPart } from '../service-proxy.ts'
import { type Answer, failure, ok } from './answer.ts'
import { callerOf } from './caller.ts'
import { discovery } from './discovery.ts'
import { bodyOf, type Exchange, flag, isDryRun } from './exchange.ts'
import { openApi } from './open-api.ts'
import { answerResource } from './resource-answer.ts'
import { type ResourceRoute, resourceRoute } from './route.ts'
import { watch } from './watch.ts'

export interface Front {
  readonly store: Store
  readonly faults: ApiFaults | undefined
}

/** One HTTP request from its first line to the end of its answer. Never rejects. */
export async function attend(
  front: Front,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const caller = callerOf(front.store, request.headers)
    const exchange = await exchangeOf(front.store, request, caller)
    if (!exchange) send(response, await about(front, request, caller))
    else await attendResource(front, exchange, response)
  } catch (error) {
    if (response.headersSent) response.destroy()
    else send(response, failure(error))
  }
}

function send(response: ServerResponse, { status, body, type, headers }: Answer): void {
  const plain = typeof body === 'string'
  response.writeHead(status, {
    'content-type': type ?? (plain ? 'text/plain' : 'application/json'),
    'audit-id': randomUUID(),
    ...headers,
  })
  response.end(plain ? body : JSON.stringify(body))
}

/** Undefined for a path that is no resource which is served. */
async function exchangeOf(
  store: Store,
  request: IncomingMessage,
  caller: Caller,
): Promise<Exchange | undefined> {
  const { pathname, searchParams: query } = urlOf(request)
  const body = await bodyOf(request)
  const route = resourceRoute(pathname)
  const kind = route && store.kinds.find(route.subresource === undefined ? route : actedOn(route))
  if (!route || !kind) return undefined
  const { accept, 'content-type': type = '' } = request.headers
  const patchType = patchTypes[type.split(';')[0] ?? '']
  return { method: request.method ?? 'GET', route, kind, query, accept, patchType, body, caller }
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  return new URL(url, 'http://simulator')
}

async function attendResource(
  { store, faults }: Front,
  exchange: Exchange,
  response: ServerResponse,
): Promise<void> {
  const { caller, method, query } = exchange
  const asked = requestOf(exchange)
  await faults?.before({ ...asked, user: caller.user })
  if (method === 'GET' && flag(query, 'watch')) await watch({ store, exchange, response, faults }, asked)
  else
    send(
      response,
      perform(store, caller, asked, () => answerResource(store, exchange)),
    )
}

/** Version, health, discovery and OpenAPI. */
async function about({ store, faults }: Front, request: IncomingMessage, { user }: Caller): Promise<Answer> {
  const { pathname } = urlOf(request)
  await faults?.before({ verb: 'get', kind: { apiVersion: 'v1', plural: '' }, user })
  const answer =
    wellKnown(store, pathname) ??
    discovery(store, pathname, request.headers.accept) ??
    openApi(store, pathname)
  return answer ?? nowhere(pathname)
}

/** Plain text: what nothing serves has nobody who would make a Status. virt-api takes it for a missing login (lab "Seen with workloads" 13). */
function nowhere(path: string): Answer {
  if (path.startsWith('/apis/subresources.kubevirt.io/'))
    return { status: 401, body: `unknown api endpoint: ${path}` }
  return { status: 404, body: '404 page not found\n' }
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

function requestOf(exchange: Exchange): ApiRequest {
  const { method, route, query } = exchange
  const { namespace } = route
  const subresource = accessPart(route.subresource)
  const verb = verbOf(method, route, query)
  const name = route.name ?? nameSelected(query.get('fieldSelector') ?? undefined)
  return { verb, kind: route, namespace, name, subresource, dryRun: isDryRun(exchange) }
}

function verbOf(method: string, route: ResourceRoute, query: URLSearchParams): string {
  if (method === 'GET') return route.name !== undefined ? 'get' : flag(query, 'watch') ? 'watch' : 'list'
  return method === 'DELETE' && route.name === undefined ? 'deletecollection' : (verbs[method] ?? 'get')
}

function wellKnown(store: Store, path: string): Answer | undefined {
  if (['/readyz', '/livez', '/healthz'].includes(path)) return ok('ok')
  if (path !== '/version') return undefined
  return ok({
    ...store.version,
    gitCommit: 'simulated',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: 'simulated',
    compiler: 'simulated',
    platform: 'linux/amd64',
  })
}
