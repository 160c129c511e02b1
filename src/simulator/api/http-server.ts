import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../lib/kube/clock.ts'
import type { ApiFaults } from './api-faults.ts'
import type { Store } from './store.ts'
import { paceExtension } from '../../lib/kube/http/kubeconfig.ts'
import { randomUUID } from 'node:crypto'
import { actedOn } from '../../lib/kube/object.ts'
import { nameSelected } from './list-options.ts'
import { patchTypes } from './patch.ts'
import {
  admin,
  type ApiRequest,
  askAggregated,
  type Caller,
  decide,
  perform,
  requestOfPath,
} from './api-request.ts'
import { accessPart } from './subresources.ts'
import {
  type Answer,
  bodyOf,
  type Exchange,
  failure,
  flag,
  isDryRun,
  ok,
  type ResourceRoute,
  resourceRoute,
} from './http/exchange.ts'
import { discovery, openApi } from './http/discovery.ts'
import { answerResource, watch } from './http/resource-requests.ts'
import { forbiddenTo, unauthorized } from './api-refusal.ts'

export interface Simulator {
  readonly url: string
  readonly port: number
  /** With a context for every user that is named, besides the admin's; `speed`: that of its time, where those who ask are to know. */
  kubeconfig(users?: readonly string[], speed?: number): string
  /** Cuts every connection. */
  close(): Promise<void>
}

interface Serving {
  port?: number
  faults?: ApiFaults
  /** What its answers say the time is. Default: the store's; another one where that runs faster than those who ask know. */
  clock?: Pick<Clock, 'now'>
}

/** Puts a store on the wire: plain HTTP on loopback, good enough for kubectl. Time is the store's clock. */
export async function serveSimulator(
  store: Store,
  { port = 0, faults, clock = store.clock }: Serving = {},
): Promise<Simulator> {
  const server = createServer((request, response) => {
    // Node would say its own time.
    response.sendDate = false
    response.setHeader('date', clock.now().toUTCString())
    void attend({ store, faults }, request, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: listening } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${listening}`
  return {
    url,
    port: listening,
    kubeconfig: (users, speed) => kubeconfig(url, users, speed),
    async close() {
      server.close()
      server.closeAllConnections()
      if (server.listening) await once(server, 'close')
    },
  }
}

/**
 * A kubeconfig for a simulated cluster over plain HTTP. JSON is YAML. The user of the context is the admin; `users`
 * adds a context of the same name for each. Over plain HTTP kubectl sends no token, hence `as`. Where time runs at another pace than the wall's, it says so to kvup, in a
 * place that is for such things and that kubectl passes over.
 */
function kubeconfig(url: string, users: readonly string[] = [], speed = 1): string {
  const names = ['admin', ...users]
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'sim', cluster: { server: url, 'insecure-skip-tls-verify': true, ...paced(speed) } },
      ],
      users: [
        { name: 'admin', user: {} },
        ...users.map((name) => ({ name, user: { token: `sim-${name}`, as: name } })),
      ],
      contexts: names.map((name) => ({
        name: name === 'admin' ? 'sim' : name,
        context: { cluster: 'sim', user: name },
      })),
      'current-context': 'sim',
    },
    undefined,
    2,
  )
}

const paced = (speed: number) =>
  speed === 1 ? {} : { extensions: [{ name: paceExtension, extension: { speed } }] }

interface Front {
  readonly store: Store
  readonly faults: ApiFaults | undefined
}

async function attend(front: Front, request: IncomingMessage, response: ServerResponse): Promise<void> {
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
async function exchangeOf(store: Store, request: IncomingMessage, caller: Caller) {
  const { pathname, searchParams: query } = urlOf(request)
  const body = await bodyOf(request)
  const route = resourceRoute(pathname)
  const kind = route && store.kinds.find(route.subresource === undefined ? route : actedOn(route))
  if (!route || !kind) return undefined
  const { accept, 'content-type': type = '' } = request.headers
  const patchType = patchTypes[type.split(';')[0] ?? '']
  return { method: request.method ?? 'GET', route, kind, query, accept, patchType, body, caller }
}

const urlOf = ({ url = '/' }: IncomingMessage): URL => new URL(url, 'http://simulator')

async function attendResource({ store, faults }: Front, exchange: Exchange, response: ServerResponse) {
  const { caller, method, query } = exchange
  const asked = requestOf(exchange)
  await faults?.before({ ...asked, user: caller.user })
  if (method === 'GET' && flag(query, 'watch')) await watch({ store, exchange, response }, asked)
  else
    send(
      response,
      perform(store, caller, asked, () => answerResource(store, exchange)),
    )
}

/** Version, health, discovery and OpenAPI. */
async function about({ store, faults }: Front, request: IncomingMessage, caller: Caller): Promise<Answer> {
  const { pathname } = urlOf(request)
  const { user } = caller
  if (store.aggregated.has(pathname)) {
    await faults?.before({ ...requestOfPath(pathname), user })
    return ok(askAggregated(store, caller, pathname) ?? {})
  }
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

/**
 * Who asks: `Bearer sim-<user>` or `Bearer <user>`; nobody in particular is the admin. `Impersonate-User` is honoured
 * for who may impersonate. Throws 401 for `Bearer expired`.
 */
function callerOf(store: Store, headers: IncomingHttpHeaders): Caller {
  const userAgent = headers['user-agent'] ?? ''
  const real = { ...byToken(headers.authorization), userAgent }
  const wanted = one(headers['impersonate-user'])
  if (wanted === undefined || wanted === real.user) return real
  const access = { verb: 'impersonate', group: '', resource: 'users', name: wanted }
  if (!decide(store, real, access).allowed)
    throw forbiddenTo(
      { apiVersion: 'v1', plural: 'users' },
      wanted,
      `User "${real.user}" cannot impersonate resource "users" in API group "" at the cluster scope`,
    )
  return { ...userCalled(wanted, many(headers['impersonate-group'])), userAgent }
}

function byToken(authorization: string | undefined): Caller {
  const token = /^Bearer (?<token>.+)$/.exec(authorization ?? '')?.groups?.['token']
  if (token === undefined || token === 'sim-admin') return admin
  if (token === 'expired') throw unauthorized()
  return userCalled(token.replace(/^sim-/, ''))
}

function userCalled(user: string, groups: readonly string[] = []): Caller {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? []
  const accounts =
    namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return { user, groups: [...groups, ...accounts, 'system:authenticated'], userAgent: '' }
}

const one = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header

const many = (header: string | string[] | undefined): string[] =>
  (Array.isArray(header) ? header : (header ?? '').split(',')).map((g) => g.trim()).filter((g) => g !== '')
