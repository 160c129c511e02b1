import type { IncomingMessage } from 'node:http'
import { copy, isJson, type Json } from '../json.ts'
import type { PatchTypeName } from '../patch.ts'
import { badRequest, internalError, Refusal, unsupportedBody } from '../api-refusal.ts'
import type { Caller } from '../api-request.ts'
import type { SimKind } from '../kinds/sim-kind.ts'
import { ApiError } from '../../../lib/kube/errors.ts'

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
export const managerOf = ({ query, caller }: Exchange): string =>
  query.get('fieldManager') ?? (caller.userAgent.split('/')[0] || 'unknown')

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

/** `metav1.Status` of a success, as DELETE answers. */
export const success = (details: Json): Json => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: copy(details),
})

/** A path of the resource API, taken apart. */
export interface ResourceRoute {
  readonly apiVersion: string
  readonly plural: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

/** `/api/v1/namespaces/a/pods/b/log`, `/apis/apps/v1/deployments`. Undefined for paths that are none. */
export function resourceRoute(path: string): ResourceRoute | undefined {
  const [root, ...rest] = path
    .split('/')
    .filter(Boolean)
    .map((part) => decodeURIComponent(part))
  if (root === 'api' && rest.length >= 2) return below(rest[0] ?? '', rest.slice(1))
  if (root === 'apis' && rest.length >= 3) return below(`${rest[0]}/${rest[1]}`, rest.slice(2))
  return undefined
}

function below(apiVersion: string, parts: readonly string[]): ResourceRoute {
  const inNamespace =
    parts[0] === 'namespaces' && parts.length >= 3 && parts[2] !== 'status' && parts[2] !== 'finalize'
  const [plural = '', name, ...sub] = inNamespace ? parts.slice(2) : parts
  return {
    apiVersion,
    plural,
    ...(inNamespace && { namespace: parts[1] ?? '' }),
    ...(name !== undefined && { name }),
    ...(sub.length > 0 && { subresource: sub.join('/') }),
  }
}

/** Field number to name and type; a list of numbers would be too much for what kubectl sends. */
type Message = Readonly<
  Record<
    number,
    readonly [name: string, type: 'text' | 'base64' | 'number' | 'texts' | 'map' | 'base64Map' | Message]
  >
>

const metadata: Message = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  11: ['labels', 'map'],
  12: ['annotations', 'map'],
  14: ['finalizers', 'texts'],
}
const attributes: Message = {
  1: ['namespace', 'text'],
  2: ['verb', 'text'],
  3: ['group', 'text'],
  4: ['version', 'text'],
  5: ['resource', 'text'],
  6: ['subresource', 'text'],
  7: ['name', 'text'],
}
const deleteOptions: Message = {
  1: ['gracePeriodSeconds', 'number'],
  2: ['preconditions', { 1: ['uid', 'text'], 2: ['resourceVersion', 'text'] }],
  4: ['propagationPolicy', 'text'],
  5: ['dryRun', 'texts'],
}

/** What kubectl's typed clients send as protobuf: `auth can-i`, `auth whoami`, `create namespace|configmap|secret`, `drain`. */
const messages: Readonly<Record<string, Message>> = {
  SelfSubjectReview: { 1: ['metadata', metadata] },
  SelfSubjectAccessReview: {
    1: ['metadata', metadata],
    2: [
      'spec',
      {
        1: ['resourceAttributes', attributes],
        2: ['nonResourceAttributes', { 1: ['path', 'text'], 2: ['verb', 'text'] }],
      },
    ],
  },
  SelfSubjectRulesReview: { 1: ['metadata', metadata], 2: ['spec', { 1: ['namespace', 'text'] }] },
  Namespace: { 1: ['metadata', metadata] },
  ServiceAccount: { 1: ['metadata', metadata] },
  ConfigMap: { 1: ['metadata', metadata], 2: ['data', 'map'], 3: ['binaryData', 'base64Map'] },
  Secret: {
    1: ['metadata', metadata],
    2: ['data', 'base64Map'],
    3: ['type', 'text'],
    4: ['stringData', 'map'],
  },
  DeleteOptions: deleteOptions,
  Eviction: { 1: ['metadata', metadata], 2: ['deleteOptions', deleteOptions] },
}

const envelope: Message = {
  1: ['type', { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] }],
  2: ['raw', 'base64'],
}

/** The object in a `k8s\0` envelope as JSON; undefined for a kind that is not known here. */
function fromProtobuf(bytes: Buffer): Json | undefined {
  const { type, raw } = decode(bytes.subarray(4), envelope) as {
    type?: { apiVersion?: string; kind?: string }
    raw?: string
  }
  const message = messages[type?.kind ?? '']
  return message && { ...type, ...decode(Buffer.from(raw ?? '', 'base64'), message) }
}

function decode(bytes: Buffer, message: Message): Json {
  const result: Json = {}
  for (const { number, value } of wireFields(bytes)) {
    const known = message[number]
    if (known) keep(result, known, value)
  }
  return result
}

function keep(into: Json, [name, type]: Message[number], value: Buffer | number): void {
  if (typeof value === 'number') {
    if (type === 'number') into[name] = value
  } else if (typeof type === 'object') into[name] = decode(value, type)
  else if (type !== 'text' || value.length > 0) into[name] = read(into[name], type, value)
}

function read(before: unknown, type: Exclude<Message[number][1], Message>, value: Buffer): unknown {
  switch (type) {
    case 'text':
      return value.toString()
    case 'texts':
      return [...((before as string[] | undefined) ?? []), value.toString()]
    case 'base64':
      return value.toString('base64')
    case 'map':
    case 'base64Map':
      return { ...(before as Json | undefined), ...entry(value, type) }
    case 'number':
    default:
      return before
  }
}

function entry(bytes: Buffer, type: 'map' | 'base64Map'): Json {
  const { key = '', value = '' } = decode(bytes, {
    1: ['key', 'text'],
    2: ['value', type === 'map' ? 'text' : 'base64'],
  })
  return { [key as string]: value }
}

function* wireFields(bytes: Buffer): Generator<{ number: number; value: Buffer | number }> {
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 1; at < bytes.length; shift *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte & 127) * shift
      if (byte < 128) break
    }
    return value
  }
  while (at < bytes.length) {
    const tag = varint()
    const number = Math.floor(tag / 8)
    if (tag % 8 === 0) yield { number, value: varint() }
    else if (tag % 8 === 2) {
      const length = varint()
      yield { number, value: bytes.subarray(at, at + length) }
      at += length
    } else at += tag % 8 === 1 ? 8 : 4
  }
}
