import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../lib/kube/clock.ts'
import { paceExtension } from '../../lib/kube/http/kubeconfig.ts'
import { forbiddenTo, unauthorized } from './api-refusal.ts'
import {
  admin,
  type ApiRequest,
  askAggregated,
  type Caller,
  decide,
  perform,
  requestOfPath,
} from './api-request.ts'
import { discovery, openApi } from './http/discovery.ts'
import { type Answer, type Exchange, exchangeOf, failure, flag, ok, urlOf } from './http/exchange.ts'
import { answerResource, watch } from './http/resource-requests.ts'
import { nameSelected } from './list-options.ts'
import type { Store } from './store.ts'
import { accessPart } from './subresources.ts'

export interface Simulator {
  readonly url: string
  /** With a context for every user that is named, besides the admin's. */
  kubeconfig(users?: readonly string[], named?: KubeconfigNames): string
  /** Cuts every connection. */
  close(): Promise<void>
}

interface KubeconfigNames {
  /** Of its time, where those who ask are to know; default 1. */
  speed?: number
  /** Of the cluster and of the admin's context; default `sim`. */
  context?: string
}

interface Front {
  readonly store: Store
  readonly faults: Serving['faults']
}

interface Serving {
  /** Asked before a request is answered: it may take its time, and throw a Refusal. */
  faults?: { before(request: ApiRequest & { user: string }): Promise<void> } | undefined
  /** What its answers say the time is. Default: the store's; another one where that runs faster than those who ask know. */
  clock?: Pick<Clock, 'now'>
}

/** Puts a store on the wire: plain HTTP on loopback, good enough for kubectl. Time is the store's clock. */
export async function serveSimulator(
  store: Store,
  { faults, clock = store.clock }: Serving = {},
): Promise<Simulator> {
  const server = createServer((request, response) => {
    // Node would say its own time.
    response.sendDate = false
    response.setHeader('date', clock.now().toUTCString())
    void attend({ store, faults }, request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    kubeconfig: (users, named) => kubeconfig(url, users, named),
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
function kubeconfig(
  server: string,
  users: readonly string[] = [],
  { speed = 1, context = 'sim' }: KubeconfigNames = {},
): string {
  const pace = speed === 1 ? {} : { extensions: [{ name: paceExtension, extension: { speed } }] }
  const admins = context === 'sim' ? 'admin' : `${context}-admin`
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: context, cluster: { server, 'insecure-skip-tls-verify': true, ...pace } }],
    users: [
      { name: admins, user: {} },
      ...users.map((name) => ({ name, user: { token: `sim-${name}`, as: name } })),
    ],
    contexts: [
      { name: context, context: { cluster: context, user: admins } },
      ...users.map((name) => ({ name, context: { cluster: context, user: name } })),
    ],
    'current-context': context,
  }
  return JSON.stringify(config, undefined, 2)
}

async function attend(front: Front, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { store, faults } = front
  try {
    const caller = callerOf(store, request.headers)
    const exchange = await exchangeOf(store, request, caller)
    if (!exchange) {
      send(response, await about(front, request, caller))
      return
    }
    const asked = requestOf(exchange)
    await faults?.before({ ...asked, user: caller.user })
    if (exchange.method === 'GET' && flag(exchange.query, 'watch'))
      await watch({ store, exchange, response }, asked)
    else
      send(
        response,
        perform(store, caller, asked, () => answerResource(store, exchange)),
      )
  } catch (error) {
    if (response.headersSent) response.destroy()
    else send(response, failure(error))
  }
}

function send(response: ServerResponse, { status, body, type, headers }: Answer): void {
  const isPlain = typeof body === 'string'
  response.writeHead(status, {
    'content-type': type ?? (isPlain ? 'text/plain' : 'application/json'),
    'audit-id': randomUUID(),
    ...headers,
  })
  response.end(isPlain ? body : JSON.stringify(body))
}

/** Version, health, discovery and OpenAPI. */
async function about({ store, faults }: Front, request: IncomingMessage, caller: Caller): Promise<Answer> {
  const { pathname } = urlOf(request)
  const isAggregated = store.aggregated.has(pathname)
  const asked = isAggregated
    ? requestOfPath(pathname)
    : { verb: 'get', kind: { apiVersion: 'v1', plural: '' } }
  await faults?.before({ ...asked, user: caller.user })
  if (isAggregated) return ok(askAggregated(store, caller, pathname) ?? {})
  return (
    wellKnown(store, pathname) ??
    discovery(store, pathname, request.headers.accept) ??
    openApi(store, pathname) ??
    nowhere(pathname)
  )
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

function requestOf({ method, route, query, write: { dryRun } }: Exchange): ApiRequest {
  const { namespace } = route
  const name = route.name ?? nameSelected(query.get('fieldSelector') ?? undefined)
  const subresource = accessPart(route.subresource)
  return { verb: verbOf(method, route.name, query), kind: route, namespace, name, subresource, dryRun }
}

function verbOf(method: string, name: string | undefined, query: URLSearchParams): string {
  if (method === 'GET') return name !== undefined ? 'get' : flag(query, 'watch') ? 'watch' : 'list'
  return method === 'DELETE' && name === undefined ? 'deletecollection' : (verbs[method] ?? 'get')
}

function wellKnown({ version }: Store, path: string): Answer | undefined {
  if (['/readyz', '/livez', '/healthz'].includes(path)) return ok('ok')
  if (path !== '/version') return undefined
  const build = { gitCommit: 'simulated', gitTreeState: 'clean', buildDate: '2026-01-01T00:00:00Z' }
  return ok({
    ...version,
    ...build,
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
  const [wanted] = listed(headers['impersonate-user'])
  if (wanted === undefined || wanted === real.user) return real
  const access = { verb: 'impersonate', group: '', resource: 'users', name: wanted }
  if (decide(store, real, access).allowed)
    return { ...userCalled(wanted, listed(headers['impersonate-group'])), userAgent }
  throw forbiddenTo(
    { apiVersion: 'v1', plural: 'users' },
    wanted,
    `User "${real.user}" cannot impersonate resource "users" in API group "" at the cluster scope`,
  )
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

const listed = (header: string | string[] | undefined): string[] =>
  (Array.isArray(header) ? header : (header ?? '').split(',')).map((g) => g.trim()).filter((g) => g !== '')
