import { gunzipSync } from 'node:zlib'
import { parseDocument } from 'yaml'
import shapes from './bundle-shapes.json' with { type: 'json' }
import { fits, type Shape } from '../kube/shape.ts'
import type { ConfigMap } from '../kube/kinds/core-kinds.ts'
import { isTooDeep, type KubeObject, withoutNulls, parseJson } from '../kube/object.ts'

/** The objects of a bundle that OLM has unpacked. */
export interface ReadObjects {
  objects: readonly KubeObject[]
  unread: readonly string[]
}

/** One of these files is as large as this at most, bytes: the largest CRD of HyperConverged has 0.6 MB. */
const largestFile = 2 * 1024 * 1024
/** All of an InstallPlan's bundles: YAML of this size keeps a slow machine busy for half a minute. */
const largestBundles = 8 * 1024 * 1024

interface Bundle {
  map: ConfigMap
  at: string
}

/** Files in plain text, or gzipped and base64 in one or two layers: OLM encodes what the API encodes again. */
export function unpackedObjects(bundles: readonly Bundle[]): ReadObjects {
  const objects: KubeObject[] = []
  const unread: string[] = []
  let left = largestBundles
  for (const { map, at } of bundles) {
    const files = filesIn(map)
    if (files.length === 0) unread.push(`${at} is empty`)
    for (const [file, bytes] of files) {
      const text = textOf(bytes)
      left -= text?.length ?? 0
      const object = text === undefined || left < 0 ? undefined : objectIn(text)
      if (object === undefined) unread.push(`${file} in ${at} is broken, or too large`)
      else if (isKubeObject(object)) objects.push(object)
    }
  }
  return soundOf(objects, unread)
}

/** What has the shape that the API gives its kind: as text in a ConfigMap nobody has checked it. */
export function soundOf(all: readonly KubeObject[], before: readonly string[] = []): ReadObjects {
  const objects: KubeObject[] = []
  const unread = [...before]
  for (const object of all) {
    const { kind, metadata } = object
    if (!isTooDeep(object) && isSound(withoutNulls(object))) objects.push(object)
    else unread.push(`${kind} ${metadata.name} is not as the API has it`)
  }
  return { objects, unread }
}

/** Of what is read of a bundle's objects, by their kinds. */
const known: Readonly<Record<string, Shape>> = shapes

const isSound = (object: KubeObject): boolean =>
  !Object.hasOwn(known, object.kind) || fits(object, known[object.kind] ?? 'record')

const filesIn = ({ data, binaryData }: ConfigMap): readonly (readonly [file: string, bytes: Buffer])[] => [
  ...Object.entries(data ?? {}).map(([file, text]) => [file, Buffer.from(text)] as const),
  ...Object.entries(binaryData ?? {}).map(([file, text]) => [file, Buffer.from(text, 'base64')] as const),
]

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
  if (text.trimStart().startsWith('{')) return parseJson(text)
  try {
    const document = parseDocument(text, { uniqueKeys: true })
    return document.errors.length > 0 ? undefined : (document.toJS({ maxAliasCount: 0 }) as unknown)
  } catch {
    return undefined
  }
}

/** Whether it has a kind and a name. */
export const isKubeObject = (value: unknown): value is KubeObject =>
  fits(value, { kind: 'text', metadata: { name: 'text' } })
