import { operatorVersionOf, versionOfCsv } from './release-versions.ts'
import { usageError } from '../kube/errors.ts'
import type { CatalogChannel, CatalogEntry, CatalogPackage } from './catalog-path.ts'
import { parseAllDocuments } from 'yaml'

type Fields = Readonly<Record<string, unknown>>

/**
 * The packages of a file-based catalog, from its olm.package, olm.channel and olm.bundle entries; what else is in it is left out.
 * Throws `usage` for a file that is none, or that has no channel.
 */
export function parseCatalog(text: string, origin: string): readonly CatalogPackage[] {
  const documents = documentsOf(text, origin)
  const channels = documents.filter(({ schema }) => schema === 'olm.channel')
  if (channels.length === 0)
    throw usageError('catalog-invalid', `${origin} is no file-based catalog: it has no olm.channel`, {
      remedy: 'opm render CATALOG-IMAGE -o yaml > catalog.yaml     makes one',
    })
  const versions = bundleVersions(documents)
  const names = [...new Set(channels.map((channel) => textAt(channel, 'package', origin)))]
  return names.map((name) => packageOf(name, { documents, channels, known: { versions, origin } }))
}

function packageOf(
  name: string,
  { documents, channels, known }: { documents: readonly Fields[]; channels: readonly Fields[]; known: Known },
): CatalogPackage {
  const declared = documents.find((one) => one['schema'] === 'olm.package' && one['name'] === name)
  const defaultChannel = declared?.['defaultChannel']
  const own = channels.filter((channel) => channel['package'] === name)
  return {
    name,
    ...(typeof defaultChannel === 'string' && { defaultChannel }),
    channels: own.map((channel) => channelOf(channel, known)),
  }
}

interface Known {
  /** By the name of the CSV. */
  versions: ReadonlyMap<string, string>
  origin: string
}

function channelOf(channel: Fields, known: Known): CatalogChannel {
  const name = textAt(channel, 'name', known.origin)
  const entries = listAt(channel, 'entries').map((entry) => entryOf(entry, known))
  return { name, entries }
}

function entryOf(entry: Fields, { versions, origin }: Known): CatalogEntry {
  const name = textAt(entry, 'name', origin)
  const { replaces, skips, skipRange } = entry
  const version = versions.get(name) ?? versionOfCsv(name)?.text
  return {
    name,
    ...(version !== undefined && { version }),
    ...(typeof replaces === 'string' && replaces !== '' && { replaces }),
    skips: Array.isArray(skips) ? skips.filter((one) => typeof one === 'string') : [],
    ...(typeof skipRange === 'string' && skipRange !== '' && { skipRange }),
  }
}

function bundleVersions(documents: readonly Fields[]): ReadonlyMap<string, string> {
  const bundles = documents.filter(({ schema }) => schema === 'olm.bundle')
  return new Map(
    bundles.flatMap((bundle) => {
      const property = listAt(bundle, 'properties').find(({ type }) => type === 'olm.package')
      const value = property?.['value']
      const version = isFields(value) ? value['version'] : undefined
      const known = typeof version === 'string' ? operatorVersionOf(version) : undefined
      return known && typeof bundle['name'] === 'string' ? [[bundle['name'], known.text] as const] : []
    }),
  )
}

function textAt(from: Fields, key: string, origin: string): string {
  const value = from[key]
  if (typeof value === 'string' && value !== '') return value
  throw usageError('catalog-invalid', `${origin} is no file-based catalog: an entry has no ${key}`)
}

function listAt(from: Fields, key: string): readonly Fields[] {
  const value = from[key]
  return Array.isArray(value) ? (value as unknown[]).filter(isFields) : []
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/**
 * The objects of a file: YAML documents, one JSON value, or JSON objects one after the other as `opm render` prints them. Throws
 * `usage` that names the file.
 */
function documentsOf(text: string, origin: string): readonly Fields[] {
  try {
    const values = text.trimStart().startsWith('{') ? jsonObjects(text) : yamlDocuments(text)
    return values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value])).filter(isFields)
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    throw usageError('catalog-invalid', `${origin} is no file-based catalog: ${why}`, {
      cause,
      remedy: 'opm render CATALOG-IMAGE -o yaml > catalog.yaml     makes one',
    })
  }
}

function yamlDocuments(text: string): unknown[] {
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  return documents.map((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return document.toJS() as unknown
  })
}

function jsonObjects(text: string): unknown[] {
  const values: unknown[] = []
  let from = 0
  for (const end of endsOfObjects(text)) {
    values.push(JSON.parse(text.slice(from, end)))
    from = end
  }
  if (text.slice(from).trim() !== '') values.push(JSON.parse(text.slice(from)))
  return values
}

/** Where each object of the outermost level ends. */
function endsOfObjects(text: string): readonly number[] {
  const ends: number[] = []
  let depth = 0
  for (const { index, 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gu)) {
    if (token === '{') depth++
    else if (token === '}' && --depth === 0) ends.push(index + 1)
  }
  return ends
}

/** The packages of `--catalog-file`; undefined without one. Throws `usage` for a file that cannot be read or is no catalog. */
export async function readCatalog(
  { readText }: { readText: (file: string) => Promise<string> },
  file: string | undefined,
): Promise<readonly CatalogPackage[] | undefined> {
  if (file === undefined) return undefined
  const text = await readText(file).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError('catalog-unread', `cannot read the catalog ${file}: ${why}`, {
      remedy: 'opm render CATALOG-IMAGE -o yaml > catalog.yaml     makes one',
      cause,
    })
  })
  return parseCatalog(text, file)
}
