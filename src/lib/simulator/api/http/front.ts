import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiFaults } from '../../faults.ts'
import { patchTypes } from '../patch.ts'
import { unserved } from '../refusal.ts'
import { type ApiRequest, perform } from '../request.ts'
import type { Store } from '../store.ts'
import { behindAggregation } from '../subresource-call.ts'
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
    const answer = await answerOf(front, request, response)
    if (answer) send(response, answer)
  } catch (error) {
    if (response.headersSent) response.destroy()
    else send(response, failure(error))
  }
}

function send(response: ServerResponse, { status, body, type, headers }: Answer): void {
  const plain = typeof body === 'string'
  response.writeHead(status, {
    'content-type': type ?? (plain ? 'text/plain' : 'application/json'),
    ...headers,
  })
  response.end(plain ? body : JSON.stringify(body))
}

async function answerOf(
  front: Front,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Answer | undefined> {
  const url = new URL(request.url ?? '/', 'http://simulator')
  const { accept } = request.headers
  const caller = callerOf(front.store, request.headers)
  const body = await bodyOf(request)
  const route = resourceRoute(url.pathname)
  const kind = route && front.store.kinds.find(behindAggregation(route))
  if (!route || !kind) {
    await front.faults?.before({ verb: 'get', kind: { apiVersion: 'v1', plural: '' }, user: caller.user })
    const answer =
      wellKnown(front.store, url.pathname) ??
      discovery(front.store, url.pathname, accept) ??
      openApi(front.store, url.pathname)
    if (!answer) throw unserved()
    return answer
  }
  const patchType = patchTypes[(request.headers['content-type'] ?? '').split(';')[0] ?? '']
  const exchange: Exchange = {
    method: request.method ?? 'GET',
    route,
    kind,
    query: url.searchParams,
    accept,
    patchType,
    body,
    caller,
  }
  const asked = requestOf(exchange)
  await front.faults?.before({ ...asked, user: caller.user })
  if (exchange.method === 'GET' && flag(url.searchParams, 'watch')) {
    await watch({ store: front.store, exchange, response, faults: front.faults }, asked)
    return undefined
  }
  return perform(front.store, caller, asked, () => answerResource(front.store, exchange))
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

function requestOf(exchange: Exchange): ApiRequest {
  const { method, route, query } = exchange
  const { namespace, name, subresource } = route
  return {
    verb: verbOf(method, route, query),
    kind: route,
    namespace,
    name,
    subresource,
    dryRun: isDryRun(exchange),
  }
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
