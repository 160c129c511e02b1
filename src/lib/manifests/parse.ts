import { parseAllDocuments, type Document } from 'yaml'
import type { KubeObject } from '../cluster/object.ts'
import { usageError } from '../system/errors.ts'
import { withoutServerFields } from './server-fields.ts'
import { nameOf } from './name-of.ts'

/**
 * The objects of a multi-document YAML or JSON text, Lists unfolded, without what only a server writes. Scalars are read as
 * kubectl reads them (YAML 1.1: `yes` is true, 0644 is 420). Throws `usage` where the text is something else.
 */
export function parseManifest(text: string, origin: string): KubeObject[] {
  const objects = documentsOf(text, origin).flatMap((document) => objectsOf(document, origin))
  if (objects.length === 0) throw notAManifest(origin, 'it is empty')
  const seen = new Set<string>()
  for (const object of objects) {
    const key = [object.apiVersion, object.kind, object.metadata.namespace, object.metadata.name].join('/')
    if (seen.has(key)) throw notAManifest(origin, `${nameOf(object)} is in it twice`)
    seen.add(key)
  }
  return objects.map((object) => withoutServerFields(object))
}

export function notAManifest(origin: string, why: string): Error {
  return usageError('not-a-manifest', `${origin} is no kubevirt-operator.yaml: ${why}`, {
    remedy: 'name the kubevirt-operator.yaml of the release: --manifest FILE|URL',
  })
}

/** Types that YAML 1.1 has and kubectl does not turn into anything: they stay text. */
const unwanted = new Set(['binary', 'omap', 'pairs', 'set', 'timestamp'].map((t) => `tag:yaml.org,2002:${t}`))

function documentsOf(text: string, origin: string): unknown[] {
  if (/^\s*<(!doctype|html|\?xml)/i.test(text))
    throw notAManifest(origin, 'it is an HTML page, perhaps of a login or a proxy')
  if (text.includes('\0')) throw notAManifest(origin, 'it is a binary file')
  const documents = parseAllDocuments(text, {
    version: '1.1',
    customTags: (tags) =>
      tags.filter((tag) => typeof tag === 'string' || !(unwanted.has(tag.tag) || tag.format === 'TIME')),
  })
  if ('empty' in documents) return []
  return documents.map((document) => valueOf(document, origin))
}

function valueOf(document: Document, origin: string): unknown {
  const [error] = document.errors
  if (error !== undefined) throw notAManifest(origin, `it is no YAML: ${error.message.split('\n', 1)[0]}`)
  try {
    return document.toJS() as unknown
  } catch (cause) {
    throw notAManifest(origin, `it is no YAML: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function objectsOf(document: unknown, origin: string): KubeObject[] {
  if (document === null || document === undefined) return []
  if (!isRecord(document)) throw notAManifest(origin, 'it holds text that is no Kubernetes object')
  if (
    typeof document['kind'] === 'string' &&
    document['kind'].endsWith('List') &&
    Array.isArray(document['items'])
  ) {
    return document['items'].flatMap((item) => objectsOf(item, origin))
  }
  if (!isKubeObject(document))
    throw notAManifest(origin, 'it holds a document without apiVersion, kind or name')
  return [document]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isKubeObject(value: Record<string, unknown>): value is Record<string, unknown> & KubeObject {
  const { apiVersion, kind, metadata } = value
  return (
    typeof apiVersion === 'string' &&
    typeof kind === 'string' &&
    isRecord(metadata) &&
    typeof metadata['name'] === 'string'
  )
}
