import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'
import { mostBytes, readBounded, tooLarge } from '../bounded-file.ts'
import { KvupError, messageOf, usageError } from '../errors.ts'
import { type Needed, type PassedOver, type SavedCluster, savedCluster, unfit } from './saved-cluster.ts'
import { isAsked, momentOf } from './saved-dumps.ts'
import { deepest, isRecord, isTooDeep, type KubeObject, withoutNulls } from '../object.ts'
import type { Document } from 'yaml'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const unzipped = promisify(gunzip)

/**
 * The cluster that a file or a folder holds; a gz is known by its first bytes. In a folder, that of must-gathers too, files without Kubernetes objects and broken ones are passed over. Throws
 * `usage` for what is not there, for a single file that is broken (with file and line), for a folder of several moments or clusters, and for what holds nothing of what is needed.
 */
export async function readSaved(from: string, needed?: Needed): Promise<SavedCluster> {
  const files = await filesIn(from)
  const [only] = files
  if (only === from) return savedCluster([await parseSaved(await textOf(from), from)], from, needed)
  const { parsed, passedOver, first } = await parseFolder(files, from)
  if (parsed.length === 0 && first !== undefined) throw first
  const { files: whole, at } = momentOf(parsed, from)
  return { ...savedCluster(whole, from, needed, at), files: whole.map(({ file }) => file), passedOver }
}

interface Folder {
  parsed: ParsedFile[]
  passedOver: PassedOver[]
  /** Why the first that was broken is no file of a saved cluster. */
  first?: unknown
}

/** What is no object is evidence of nothing: rules of Prometheus, the health of etcd, logs. */
async function parseFolder(files: readonly string[], from: string): Promise<Folder> {
  const folder: Folder = { parsed: [], passedOver: [] }
  const passOver = (file: string, why: string) => folder.passedOver.push({ file: relative(from, file), why })
  for (const file of files) {
    try {
      if (await isNoFile(file)) {
        passOver(file, 'it is no file: a pipe or a device may have no end')
        continue
      }
      const parsed = await parseSaved(await textOf(file), file, true)
      if (parsed.objects.length === 0 && parsed.empty.length === 0 && parsed.alerts === undefined)
        passOver(file, 'it has no Kubernetes objects')
      else folder.parsed.push(parsed)
    } catch (error) {
      if (!(error instanceof KvupError)) throw error
      folder.first ??= error
      passOver(file, error.message.replace(`${file}:`, 'line '))
    }
  }
  return folder
}

/** Of what is not there it is said when it is read. */
const isNoFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => !found.isFile() && !found.isDirectory(),
    () => false,
  )

/** The same of a text that came in another way. */
export async function parseSavedCluster(text: string, from: string, needed?: Needed): Promise<SavedCluster> {
  return savedCluster([await parseSaved(text, from)], from, needed)
}

async function filesIn(from: string): Promise<string[]> {
  try {
    if (!(await stat(from)).isDirectory()) return [from]
    const names = await readdir(from, { recursive: true })
    const files = names.filter(isAsked).toSorted()
    if (files.length === 0) throw unfit(from, 'the folder has no .yaml, .json or .ndjson')
    return files.map((name) => join(from, name))
  } catch (error) {
    throw missing(from, error)
  }
}

async function textOf(file: string): Promise<string> {
  try {
    const bytes = readBounded(file)
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString('utf8')
    return (await unzipped(bytes, { maxOutputLength: mostBytes })).toString('utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(file)
    if (!code.startsWith('Z_')) throw missing(file, cause)
    throw unreadable(file, 1, `the gz is truncated or broken (${(cause as Error).message})`)
  }
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'the file or folder does not exist',
  EACCES: 'permission denied',
}

function missing(file: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  if (code === undefined) return cause
  return usageError('snapshot-missing', `cannot read ${file}: ${words[code] ?? code}`, {
    ...(code === 'ENOENT' && {
      remedy: 'kvup snapshot --to-file cluster.ndjson.gz     saves the cluster to a file for --from',
    }),
    cause,
  })
}

export interface ParsedFile {
  file: string
  objects: readonly KubeObject[]
  /** Of a list without items, what it was a list of. */
  empty: readonly { apiVersion: string; kind: string }[]
  /** What Prometheus answered to the question for alerts, as it is. */
  alerts?: string
}

/**
 * JSON, NDJSON, or YAML of one or more documents, Lists unfolded. Throws `usage` with the line of what is broken, and, but for a file of a `folder`, of what
 * is no object.
 */
async function parseSaved(text: string, file: string, folder = false): Promise<ParsedFile> {
  const documents = await documentsOf(text, file)
  const parsed: Unfolded = { objects: [], empty: [], lenient: folder }
  for (const { value, line } of documents) unfold({ value, line }, file, parsed)
  const { objects, empty } = parsed
  const alerts = folder ? alertsIn(documents.map(({ value }) => value)) : undefined
  return { file, objects, empty, ...(alerts && { alerts: JSON.stringify({ data: { alerts } }) }) }
}

/** Alerts as Prometheus has them: of `/api/v1/alerts`, or of `/api/v1/rules`, which a must-gather has (`monitoring/prometheus/rules.json`). Undefined for rules none of which alerts. */
function alertsIn([first]: readonly unknown[]): readonly unknown[] | undefined {
  const data = isRecord(first) && isRecord(first['data']) ? first['data'] : {}
  if (Array.isArray(data['alerts'])) return data['alerts']
  const rules = recordsIn(data['groups'])
    .flatMap(({ rules: some }) => recordsIn(some))
    .filter(({ alerts }) => Array.isArray(alerts))
  return rules.length === 0 ? undefined : rules.flatMap(({ alerts }) => recordsIn(alerts))
}

const recordsIn = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

async function documentsOf(text: string, file: string): Promise<SavedDocument[]> {
  if (text.trim() === '') throw unreadable(file, 1, 'it is empty')
  if (text.includes('\0')) throw unreadable(file, 1, 'it is a binary file')
  if (!/^\s*[{[]/.test(text)) return parseYaml(text, file)
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
  /** What is no object is left out. */
  lenient: boolean
}

function unfold({ value, line }: SavedDocument, file: string, into: Unfolded): void {
  const refuse = (why: string): never => {
    throw unreadable(file, line, why)
  }
  if (value === null || value === undefined) return
  if (isTooDeep(value)) refuse(`it is nested in more than ${deepest} levels`)
  if (isRecord(value) && isList(value)) unfoldList({ value, line }, file, into)
  else if (isRecord(value) && isObject(value)) {
    if (isCutOff(value)) refuse(`${value.kind} ${value.metadata.name} is not as the API has it, or cut off`)
    into.objects.push(withoutNulls(value))
  } else if (!into.lenient)
    refuse(
      isRecord(value) ? 'an object lacks apiVersion, kind or metadata.name' : 'there is no Kubernetes object',
    )
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

function isObject(value: Record<string, unknown>): value is Record<string, unknown> & KubeObject {
  const { apiVersion, kind, metadata } = value
  const named = isRecord(metadata) && typeof metadata['name'] === 'string'
  return typeof apiVersion === 'string' && typeof kind === 'string' && named
}

const isTexts = (one: unknown) => isRecord(one) && !Object.values(one).some(isRecord)
const isRecords = (one: unknown) => Array.isArray(one) && one.every(isRecord)
const isConditions = (one: unknown) =>
  Array.isArray(one) && one.every((each) => each === null || isRecord(each))

/** YAML that was cut off is YAML all the same: `labels: kub`, `status: cond`. What came before it is not all that there was. */
function isCutOff({ metadata, spec, status }: KubeObject & { spec?: unknown; status?: unknown }): boolean {
  const parts: readonly (readonly [unknown, (one: unknown) => boolean])[] = [
    [metadata.labels, isTexts],
    [metadata.annotations, isTexts],
    [metadata.ownerReferences, isRecords],
    [metadata.managedFields, isRecords],
    [spec, isRecord],
    [status, isRecord],
    [isRecord(status) ? status['conditions'] : undefined, isConditions],
  ]
  return parts.some(([part, isWhole]) => part !== undefined && part !== null && !isWhole(part))
}

/** One object, or a list of them. Throws `usage` with the line. */
function parseJson(text: string, file: string): SavedDocument[] {
  try {
    const value = JSON.parse(text) as unknown
    return (Array.isArray(value) ? value : [value]).map((one: unknown) => ({ value: one, line: 1 }))
  } catch (error) {
    throw broken(file, lineOf(text, error), error)
  }
}

/** An object per line. Throws `usage` with the line. */
function parseLines(text: string, file: string): SavedDocument[] {
  return text.split('\n').flatMap((source, index) => {
    if (source.trim() === '') return []
    try {
      return [{ value: JSON.parse(source) as unknown, line: index + 1 }]
    } catch (error) {
      throw broken(file, index + 1, error)
    }
  })
}

/** JSON.parse names the position, or quotes the place with ten characters before it, or means the end. */
function lineOf(text: string, error: unknown): number {
  const said = String(error)
  const at = /position (?<at>\d+)/.exec(said)?.groups?.['at']
  const { cut, quoted = '' } =
    /, (?<cut>\.\.\.)?"(?<quoted>[^]*)"(\.\.\.)? is not valid JSON$/.exec(said)?.groups ?? {}
  const place = quoted === '' ? -1 : text.indexOf(quoted)
  const quotedAt = place < 0 ? text.length : place + (cut === undefined ? quoted.length : 10)
  const end = at === undefined ? quotedAt : Number(at)
  return text.slice(0, end).trimEnd().split('\n').length
}

function broken(file: string, line: number, error: unknown): Error {
  const said = messageOf(error)
  const truncated = /Unexpected end|Unterminated/.test(said)
  return unreadable(file, line, truncated ? 'it is truncated here' : `it is no JSON: ${said.slice(0, 120)}`)
}

/** An alias may stand for more than a machine can hold, and no cluster writes one. */
function plain(document: Document.Parsed, file: string, line: number): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 }) as unknown
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    const why = 'it has aliases (*NAME), which kvup does not read: write out what they stand for'
    throw unreadable(file, line, why)
  }
}

/** Between two objects in a must-gather of OpenShift Virtualization. */
const dashes = /^-{4,}$/gmu

/** Every document of a YAML text; times stay text. Throws `usage` with the line. */
async function parseYaml(text: string, file: string): Promise<SavedDocument[]> {
  const { LineCounter, parseAllDocuments } = await import('yaml')
  const lines = new LineCounter()
  const documents = parseAllDocuments(text.replaceAll(dashes, '---'), { lineCounter: lines })
  if ('empty' in documents) return []
  return documents.map((document) => {
    const [error] = document.errors
    if (error) {
      const [{ line }] = error.linePos ?? [{ line: 1 }]
      throw unreadable(file, line, `it is no YAML, or truncated: ${error.message.split('\n', 1)[0]}`)
    }
    const { line } = lines.linePos(document.range[0])
    return { value: plain(document, file, line), line }
  })
}

/** One document of a file, and the line on which it begins. */
interface SavedDocument {
  value: unknown
  line: number
}

/** A file that is broken, and where. */
function unreadable(file: string, line: number, why: string): Error {
  return usageError('snapshot-unreadable', `${file}:${line}: ${why}`, {
    object: file,
    remedy: 'save it again: kvup snapshot --to-file FILE',
  })
}

/**
 * One object per line, the index first; compressed when the name ends in .gz. Only its owner may read the file. Throws `usage` where
 * it cannot be written.
 */
export async function writeSaved(file: string, objects: readonly KubeObject[]): Promise<void> {
  const lines = Readable.from(linesOf(objects))
  const out = createWriteStream(file, { mode: 0o600 })
  try {
    await (file.endsWith('.gz') ? pipeline(lines, createGzip(), out) : pipeline(lines, out))
  } catch (cause) {
    throw usageError('snapshot-unwritten', `cannot write ${file}: ${messageOf(cause)}`, { cause })
  }
}

function* linesOf(objects: readonly KubeObject[]): Generator<string> {
  for (const object of objects) yield `${JSON.stringify(object)}\n`
}
