import type { IncomingMessage } from 'node:http'
import { isJson, type Json } from '../json.ts'
import type { PatchTypeName } from '../patch.ts'
import { badRequest, unsupportedBody } from '../refusal.ts'
import type { Caller } from '../request.ts'
import type { SimKind } from '../sim-kind.ts'
import { fromProtobuf } from './protobuf.ts'
import type { ResourceRoute } from './route.ts'

/** One request on a resource, read and recognised. */
export interface Exchange {
  readonly method: string
  readonly route: ResourceRoute
  readonly kind: SimKind
  readonly query: URLSearchParams
  readonly accept: string | undefined
  readonly patchType: PatchTypeName | undefined
  readonly body: unknown
  readonly caller: Caller
}

/** Throws 400 for a body that is not JSON, 415 for protobuf of a kind that is not known here. */
export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  if (bytes.length === 0) return undefined
  if (request.headers['content-type']?.includes('protobuf') !== true) return json(bytes.toString())
  const object = fromProtobuf(bytes)
  if (!object) throw unsupportedBody(['application/json'])
  return object
}

function json(source: string): unknown {
  try {
    return JSON.parse(source) as unknown
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

/** `dryRun=All` in the query, or in the DeleteOptions of the body. */
export function isDryRun({ query, body }: Pick<Exchange, 'query' | 'body'>): boolean {
  const inBody = isJson(body) && body['kind'] === 'DeleteOptions' ? body['dryRun'] : undefined
  return query.get('dryRun') === 'All' || (Array.isArray(inBody) && inBody.includes('All'))
}

/** The manager that the client names, or the first word of its user agent. */
export function managerOf({ query, caller }: Exchange): string {
  return query.get('fieldManager') ?? (caller.userAgent.split('/')[0] || 'unknown')
}
