import type { IncomingMessage } from 'node:http'
import { isJson, type Json, words } from '../json.ts'
import { type PatchTypeName, patchTypes } from '../patch.ts'
import { badRequest, internalError, Refusal, unsupportedBody } from '../api-refusal.ts'
import type { Caller } from '../api-request.ts'
import type { SimKind } from '../kinds/sim-kind.ts'
import type { ObjectRef } from '../etcd.ts'
import type { Store, Write } from '../store.ts'
import { ApiError } from '../../../lib/kube/errors.ts'
import { actedOn } from '../../../lib/kube/object.ts'
import { fromProtobuf } from './protobuf.ts'

/** One request on a resource, read and recognised. */
export interface Exchange {
  readonly method: string
  readonly route: ResourceRoute
  /** In the version that was asked for. */
  readonly kind: SimKind
  /** Of a collection without a name. */
  readonly ref: ObjectRef
  readonly query: URLSearchParams
  readonly accept: string | undefined
  readonly patchType: PatchTypeName | undefined
  readonly body: unknown
  readonly caller: Caller
  /** Signed with the manager that the client names, or the first word of its user agent. */
  readonly write: Write & { readonly dryRun: boolean }
}

/** Undefined for a path that is no resource which is served. Throws 400 and 415 for bodies that cannot be read. */
export async function exchangeOf(
  store: Store,
  request: IncomingMessage,
  caller: Caller,
): Promise<Exchange | undefined> {
  const { pathname, searchParams: query } = urlOf(request)
  const body = await bodyOf(request)
  const route = resourceRoute(pathname)
  const served = route && store.kinds.find(route.subresource === undefined ? route : actedOn(route))
  if (!route || !served) return undefined
  const { accept, 'content-type': type = '' } = request.headers
  const inBody = isJson(body) && body['kind'] === 'DeleteOptions' ? words(body, 'dryRun') : []
  return {
    method: request.method ?? 'GET',
    route,
    kind: { ...served, apiVersion: route.apiVersion },
    ref: { name: route.name ?? '', namespace: route.namespace },
    query,
    accept,
    patchType: patchTypes[type.split(';')[0] ?? ''],
    body,
    caller,
    write: {
      manager: query.get('fieldManager') ?? (caller.userAgent.split('/')[0] || 'unknown'),
      on: route.subresource === 'status' ? 'status' : undefined,
      dryRun: query.get('dryRun') === 'All' || inBody.includes('All'),
      user: caller.user,
    },
  }
}

export const urlOf = ({ url = '/' }: IncomingMessage): URL => new URL(url, 'http://simulator')

/** Throws 400 for a body that is not JSON, 415 for protobuf of a kind that is not known here. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  if (bytes.length === 0) return undefined
  if (request.headers['content-type']?.includes('protobuf') === true) {
    const object = fromProtobuf(bytes)
    if (!object) throw unsupportedBody(['application/json'])
    return object
  }
  try {
    return JSON.parse(bytes.toString()) as unknown
  } catch (error) {
    throw badRequest(`error decoding body: ${error instanceof Error ? error.message : 'not JSON'}`)
  }
}

export function objectBody({ body }: Exchange): Json {
  if (!isJson(body)) throw badRequest('the body of the request is no object')
  return body
}

export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value !== 'false' && value !== '0'
}

export interface Answer {
  readonly status: number
  /** Text goes out as it is. */
  readonly body: object | string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export const ok = (body: object | string, type?: string): Answer => ({
  status: 200,
  body,
  ...(type !== undefined && { type }),
})

/** The `metav1.Status` of a failure; what was not foreseen is a 500 with its message. */
export function failure(error: unknown): Answer {
  const refusal =
    error instanceof Refusal
      ? error
      : error instanceof ApiError
        ? new Refusal(error.status, error.statusReason, error.message)
        : internalError(error instanceof Error ? error.message : String(error))
  const headers = refusal.retryAfter === undefined ? {} : { 'retry-after': String(refusal.retryAfter) }
  return { status: refusal.status, body: refusal.body, headers }
}

/** A path of the resource API, taken apart. */
interface ResourceRoute {
  readonly apiVersion: string
  readonly plural: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

/** `/api/v1/namespaces/a/pods/b/log`, `/apis/apps/v1/deployments`. Undefined for paths that are none. */
function resourceRoute(path: string): ResourceRoute | undefined {
  const [root, ...rest] = path.split('/').filter(Boolean).map(decodeURIComponent)
  const length = root === 'api' ? 1 : 2
  if ((root !== 'api' && root !== 'apis') || rest.length <= length) return undefined
  const parts = rest.slice(length)
  const inNamespace =
    parts[0] === 'namespaces' && parts.length >= 3 && parts[2] !== 'status' && parts[2] !== 'finalize'
  const [plural = '', name, ...sub] = inNamespace ? parts.slice(2) : parts
  return {
    apiVersion: rest.slice(0, length).join('/'),
    plural,
    ...(inNamespace && { namespace: parts[1] ?? '' }),
    ...(name !== undefined && { name }),
    ...(sub.length > 0 && { subresource: sub.join('/') }),
  }
}
