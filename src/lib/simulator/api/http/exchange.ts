import type { IncomingMessage } from 'node:http'
import { isJson, type Json } from '../json.ts'
import type { PatchTypeName } from '../patch.ts'
import { badRequest } from '../refusal.ts'
import type { Caller } from '../request.ts'
import type { SimKind } from '../sim-kind.ts'
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

/** Throws 400 for a body that is not JSON. */
export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const source = Buffer.concat(chunks).toString()
  if (source.trim() === '') return undefined
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
