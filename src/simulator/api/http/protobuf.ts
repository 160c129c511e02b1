import type { Json } from '../json.ts'
import table from './protobuf.json' with { type: 'json' }

/** By message its fields: `3 namespace string`, `11 labels {}string`, `2 containers []Container`. */
const messages: Readonly<Record<string, readonly string[] | undefined>> = {
  ...table.messages,
  Unknown: ['1 type TypeMeta', '2 raw bytes'],
  TypeMeta: ['1 apiVersion string', '2 kind string'],
}

/** The object in a `k8s\0` envelope as JSON; undefined for a kind that is not known here. */
export function fromProtobuf(bytes: Buffer): Json | undefined {
  const { type, raw } = decode(bytes.subarray(4), 'Unknown') as { type?: Json; raw?: string }
  const kind = String(type?.['kind'])
  return messages[kind] && { ...type, ...decode(Buffer.from(raw ?? '', 'base64'), kind) }
}

function decode(bytes: Buffer, message: string): Json {
  const fields = (messages[message] ?? []).map((field) => field.split(' '))
  const result: Json = {}
  for (const { number, value } of wireFields(bytes)) {
    const [, name = '', type = ''] = fields.find(([known]) => Number(known) === number) ?? []
    if (name !== '') keep(result, { name, type }, value)
  }
  return result
}

function keep(into: Json, { name, type }: { name: string; type: string }, value: Buffer | number): void {
  const [form, of] = [type.slice(0, 2), type.replace(/^\W+/u, '')]
  if (form === '[]') into[name] = [...((into[name] as unknown[] | undefined) ?? []), read(of, value)]
  else if (form === '{}') {
    const [key, held] = wireFields(value as Buffer)
    into[name] = {
      ...(into[name] as Json | undefined),
      [String(key?.value)]: read(of, held?.value ?? Buffer.of()),
    }
  } else {
    const found = read(of, value)
    // Go writes what is empty, too.
    if (found !== undefined && found !== '') into[name] = found
  }
}

function read(type: string, value: Buffer | number): unknown {
  if (typeof value === 'number') return type === 'bool' ? value !== 0 : value
  if (type === 'string') return value.toString()
  if (type === 'bytes') return value.toString('base64')
  const held = decode(value, type)
  switch (type) {
    case 'Quantity':
      return held['string']
    case 'IntOrString':
      return held['type'] === 1 ? held['strVal'] : (held['intVal'] ?? 0)
    case 'Time':
      return typeof held['seconds'] === 'number' ? new Date(held['seconds'] * 1000).toISOString() : undefined
    default:
      return held
  }
}

function* wireFields(bytes: Buffer): Generator<{ number: number; value: Buffer | number }> {
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; at < bytes.length; shift += 7n) {
      const byte = bytes[at++] ?? 0
      value |= BigInt(byte & 127) << shift
      if (byte < 128) break
    }
    return Number(BigInt.asIntN(64, value))
  }
  while (at < bytes.length) {
    const tag = varint()
    const number = Math.floor(tag / 8)
    if (tag % 8 === 0) yield { number, value: varint() }
    else if (tag % 8 === 2) {
      const length = varint()
      yield { number, value: bytes.subarray(at, (at += length)) }
    } else at += tag % 8 === 1 ? 8 : 4
  }
}
