import type { Json } from '../json.ts'

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
export function fromProtobuf(bytes: Buffer): Json | undefined {
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
