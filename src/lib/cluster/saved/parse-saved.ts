import type { KubeObject } from '../object.ts'
import type { SavedDocument } from './saved-document.ts'
import { unreadable } from './unreadable.ts'
import { withoutNulls } from './without-nulls.ts'
import { parseJson, parseLines } from './parse-json.ts'

export interface ParsedFile {
  file: string
  objects: readonly KubeObject[]
  /** Of a list without items, what it was a list of. */
  empty: readonly { apiVersion: string; kind: string }[]
}

/** JSON, NDJSON, or YAML of one or more documents, Lists unfolded. Throws `usage` with the line of what is broken. */
export async function parseSaved(text: string, file: string): Promise<ParsedFile> {
  const documents = await documentsOf(text, file)
  const parsed: { objects: KubeObject[]; empty: ParsedFile['empty'][number][] } = { objects: [], empty: [] }
  for (const document of documents) unfold(document, file, parsed)
  return { file, ...parsed }
}

async function documentsOf(text: string, file: string): Promise<SavedDocument[]> {
  if (text.trim() === '') throw unreadable(file, 1, 'it is empty')
  if (text.includes('\0')) throw unreadable(file, 1, 'it is a binary file')
  if (!/^\s*[{[]/.test(text)) return (await import('./parse-yaml.ts')).parseYaml(text, file)
  return isLines(text) ? parseLines(text, file) : parseJson(text, file)
}

/** A first line that is a whole object, and another one after it. */
function isLines(text: string): boolean {
  const [, first, rest] = /^\s*(.*)\n([^]*)/.exec(text) ?? []
  if (first === undefined || rest === undefined) return false
  if (rest.trim() === '') return first.includes('"SnapshotIndex"') && !first.includes('"items"')
  return first.trimEnd().endsWith('}') && first.length > 2
}

interface Unfolded {
  objects: KubeObject[]
  empty: { apiVersion: string; kind: string }[]
}

function unfold({ value, line }: SavedDocument, file: string, into: Unfolded): void {
  if (value === null || value === undefined) return
  if (!isRecord(value)) throw unreadable(file, line, 'there is no Kubernetes object')
  if (isList(value)) unfoldList({ value, line }, file, into)
  else if (isObject(value)) into.objects.push(withoutNulls(value))
  else throw unreadable(file, line, 'an object lacks apiVersion, kind or metadata.name')
}

interface List {
  apiVersion?: unknown
  kind: string
  items: unknown[]
}

/** Items of a `PodList` need not say what they are. */
function unfoldList({ value, line }: { value: List; line: number }, file: string, into: Unfolded): void {
  const { apiVersion, kind, items } = value
  const listed = /^(?<kind>.+)List$/.exec(kind)?.groups?.['kind']
  const said = listed === undefined ? {} : { apiVersion, kind: listed }
  if (listed !== undefined && items.length === 0)
    into.empty.push({ apiVersion: String(apiVersion), kind: listed })
  for (const item of items) unfold({ value: isRecord(item) ? { ...said, ...item } : item, line }, file, into)
}

const isList = (value: Record<string, unknown>): value is Record<string, unknown> & List =>
  Array.isArray(value['items']) && typeof value['kind'] === 'string'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isObject(value: Record<string, unknown>): value is Record<string, unknown> & KubeObject {
  const { apiVersion, kind, metadata } = value
  const named = isRecord(metadata) && typeof metadata['name'] === 'string'
  return typeof apiVersion === 'string' && typeof kind === 'string' && named
}
