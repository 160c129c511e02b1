import { gunzipSync } from 'node:zlib'
import { parseDocument } from 'yaml'
import type { ConfigMap } from '../kube/kinds/core-kinds.ts'
import { isRecord, type KubeObject } from '../kube/object.ts'

/** The objects of a bundle that OLM has unpacked. */
export interface ReadObjects {
  objects: readonly KubeObject[]
  /** Why some of it is not known. */
  unread: readonly string[]
}

/** Files of a bundle and what they hold are as large as these at most, bytes: the largest CRD of HyperConverged has 0.6 MB. */
const largestFile = 4 * 1024 * 1024
const largestBundle = 32 * 1024 * 1024

/** Files in plain text, or gzipped and base64 in one or two layers: OLM encodes what the API encodes again. */
export function unpackedObjects({ data = {}, binaryData = {} }: ConfigMap, at: string): ReadObjects {
  const files = [
    ...Object.entries(data).map(([file, text]) => [file, Buffer.from(text)] as const),
    ...Object.entries(binaryData).map(([file, text]) => [file, Buffer.from(text, 'base64')] as const),
  ]
  const objects: KubeObject[] = []
  let size = 0
  for (const [file, bytes] of files) {
    const text = textOf(bytes)
    size += text?.length ?? 0
    const object = text === undefined || size > largestBundle ? undefined : objectIn(text)
    if (object === undefined) return { objects, unread: [`${file} in ${at} is broken, or too large`] }
    if (isKubeObject(object)) objects.push(object)
  }
  return files.length === 0 ? { objects, unread: [`${at} is empty`] } : { objects, unread: [] }
}

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

function textOf(bytes: Buffer): string | undefined {
  const packed = isGzip(bytes) ? bytes : innerOf(bytes)
  try {
    const plain = packed === undefined ? bytes : gunzipSync(packed, { maxOutputLength: largestFile })
    return plain.length > largestFile ? undefined : plain.toString('utf8')
  } catch {
    return undefined
  }
}

/** `H4sI` is what gzip begins with in base64. */
function innerOf(bytes: Buffer): Buffer | undefined {
  if (bytes.subarray(0, 4).toString('latin1') !== 'H4sI') return undefined
  const inner = Buffer.from(bytes.toString('latin1'), 'base64')
  return isGzip(inner) ? inner : undefined
}

/** Undefined where it is neither JSON nor YAML. Aliases, which could grow without bound, are not resolved. */
function objectIn(text: string): unknown {
  if (text.trimStart().startsWith('{')) return asJson(text)
  try {
    const document = parseDocument(text, { uniqueKeys: true })
    return document.errors.length > 0 ? undefined : (document.toJS({ maxAliasCount: 0 }) as unknown)
  } catch {
    return undefined
  }
}

/** Undefined where it is none. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Whether it has a kind and a name. */
export function isKubeObject(value: unknown): value is KubeObject {
  if (!isRecord(value) || typeof value['kind'] !== 'string') return false
  return isRecord(value['metadata']) && typeof value['metadata']['name'] === 'string'
}
