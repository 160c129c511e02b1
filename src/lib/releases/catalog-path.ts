import { isInSkipRange, operatorVersionOf, versionOfCsv } from './release-versions.ts'
import { cannotRead, type Details, messageOf, usageError } from '../kube/errors.ts'
import { parseAllDocuments } from 'yaml'

/** A package of a file-based catalog: what can be installed, and from where to where (ocp 2.6). */
export interface CatalogPackage {
  name: string
  defaultChannel?: string
  channels: readonly CatalogChannel[]
}

export interface CatalogChannel {
  name: string
  entries: readonly CatalogEntry[]
}

interface CatalogEntry {
  name: string
  /** As its bundle says, else as its name does; undefined where neither does. */
  version?: string
  replaces?: string
  skips: readonly string[]
  /** `>=4.17.0 <4.18.3`. */
  skipRange?: string
}

interface CatalogHop {
  csv: string
  version?: string
  channel: string
}

/** What is installed: the CSV, and its version for skip ranges. */
export interface Installed {
  csv: string
  version?: string | undefined
}

interface Journey {
  from: Installed
  /** The channel that is set now; it is stayed in as long as that leads there. */
  channel: string | undefined
  to: string
}

type CatalogPath =
  | { is: 'path'; hops: readonly CatalogHop[] }
  /** No way there: how far it goes, the farthest first. */
  | { is: 'none'; reaches: readonly CatalogHop[] }

/**
 * The entry that OLM takes next in a channel: of those that replace or skip what is installed the one nearest to the channel's
 * head (ocp 2.6). A release that the head skips cannot be asked for.
 */
export function nextIn({ entries }: CatalogChannel, installed: Installed): CatalogEntry | undefined {
  const successors = new Set(entries.filter((entry) => succeeds(entry, installed)))
  return fromHead(entries).find((entry) => successors.has(entry))
}

function succeeds(entry: CatalogEntry, { csv, version }: Installed): boolean {
  if (entry.name === csv) return false
  if (entry.replaces === csv || entry.skips.includes(csv)) return true
  const known = operatorVersionOf(version)
  return entry.skipRange !== undefined && known !== undefined && isInSkipRange(known, entry.skipRange)
}

/** Along `replaces`, beginning with what nobody replaces or skips; what is skipped comes last. */
function fromHead(entries: readonly CatalogEntry[]): readonly CatalogEntry[] {
  const passed = new Set(entries.flatMap(({ replaces, skips }) => [replaces, ...skips]))
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const ordered = new Set<CatalogEntry>()
  for (const head of entries.filter(({ name }) => !passed.has(name)))
    for (
      let entry: CatalogEntry | undefined = head;
      entry !== undefined && !ordered.has(entry);
      entry = byName.get(entry.replaces ?? '')
    )
      ordered.add(entry)
  return [...ordered, ...entries.filter((entry) => !ordered.has(entry))]
}

/**
 * The fewest hops that pass over no minor, and among these the fewest changes of the channel. Heads of a catalog that was rendered from a semver template skip all that is older, whole minors with it
 * (operator-registry alpha/template/semver), and only updates of KubeVirt to the next minor are supported. Where the catalog has nothing else an edge over a minor is taken, as OLM does. Pure.
 */
export function pathTo(catalog: CatalogPackage, journey: Journey): CatalogPath {
  const stepwise = search(catalog, journey, ({ at, version }) => !passesOver(at.version, version))
  return stepwise.is === 'path' ? stepwise : search(catalog, journey, () => true)
}

/** Whether such a step leaves a minor out; not told across majors, nor of what is no version. */
export function passesOver(from: string | undefined, to: string | undefined): boolean {
  const [begin, end] = [operatorVersionOf(from), operatorVersionOf(to)]
  return begin !== undefined && end?.major === begin.major && end.minor - begin.minor > 1
}

type Takes = (hop: { at: Installed; version: string | undefined }) => boolean

function search({ channels }: CatalogPackage, { from, channel, to }: Journey, takes: Takes): CatalogPath {
  const observed = new Map<string, readonly CatalogHop[]>([[from.csv, []]])
  let edge: readonly { at: Installed; path: readonly CatalogHop[] }[] = [{ at: from, path: [] }]
  while (edge.length > 0) {
    const next = edge.flatMap(({ at, path }) =>
      hopsFrom(at, path, { channels, channel }).filter((hop) => takes({ at, version: hop.at.version })),
    )
    const fresh = next.filter(({ csv }) => !observed.has(csv))
    for (const hop of fresh) if (!observed.has(hop.csv)) observed.set(hop.csv, hop.path)
    const there = fresh.find(({ at, path }) => at.version === to && observed.get(at.csv) === path)
    if (there !== undefined) return { is: 'path', hops: there.path }
    edge = fresh.filter(({ csv, path }) => observed.get(csv) === path)
  }
  const ends = [...observed.values()].filter((path) => path.length > 0)
  const farthest = ends.toSorted((a, b) => b.length - a.length)
  return { is: 'none', reaches: farthest.flatMap((path) => path.slice(-1)) }
}

/** All that updates lead to, in any channel, the farthest first. Pure. */
export function reachedIn(
  catalog: CatalogPackage,
  { from, channel }: Omit<Journey, 'to'>,
): readonly CatalogHop[] {
  // No version is called so.
  const path = pathTo(catalog, { from, channel, to: '' })
  return path.is === 'none' ? path.reaches : []
}

type Reached = { csv: string; at: Installed; path: readonly CatalogHop[] }

function hopsFrom(
  at: Installed,
  path: readonly CatalogHop[],
  { channels, channel }: Pick<CatalogPackage, 'channels'> & Pick<Journey, 'channel'>,
): readonly Reached[] {
  const current = path.at(-1)?.channel ?? channel
  const ordered = channels.toSorted((a, b) => Number(b.name === current) - Number(a.name === current))
  return ordered.flatMap((one): Reached[] => {
    const entry = nextIn(one, at)
    if (entry === undefined) return []
    const { name: csv, version } = entry
    const known = version === undefined ? {} : { version }
    return [{ csv, at: { csv, ...known }, path: [...path, { csv, ...known, channel: one.name }] }]
  })
}

type Fields = Readonly<Record<string, unknown>>

/** What makes a catalog file: of OpenShift's own catalog of this minor, else from whatever image the CatalogSource names. */
export const makesCatalog = (minor?: string): string =>
  minor === undefined
    ? 'kubectl get catalogsources -A -o yaml     names the image of each catalog; opm render IMAGE -o yaml makes the file'
    : `opm render registry.redhat.io/redhat/redhat-operator-index:v${minor} -o yaml > catalog.yaml     makes the file on OpenShift; of another catalog name its image`

/**
 * The packages of a file-based catalog, from its olm.package, olm.channel and olm.bundle entries; what else is in it is left out.
 * Throws `usage` for a file that is none, or that has no channel.
 */
export function parseCatalog(text: string, origin: string): readonly CatalogPackage[] {
  const documents = documentsOf(text, origin)
  const channels = documents.filter(({ schema }) => schema === 'olm.channel')
  if (channels.length === 0) throw noCatalog(origin, 'it has no olm.channel', { remedy: makesCatalog() })
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
  versions: ReadonlyMap<string, string>
  origin: string
}

const channelOf = (channel: Fields, known: Known): CatalogChannel => ({
  name: textAt(channel, 'name', known.origin),
  entries: listAt(channel, 'entries').map((entry) => entryOf(entry, known)),
})

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

const noCatalog = (origin: string, why: string, details: Details = {}): Error =>
  usageError('catalog-invalid', `${origin} is no file-based catalog: ${why}`, details)

function textAt(from: Fields, key: string, origin: string): string {
  const value = from[key]
  if (typeof value === 'string' && value !== '') return value
  throw noCatalog(origin, `an entry has no ${key}`)
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
    throw noCatalog(origin, messageOf(cause).split('\n')[0] ?? '', { cause, remedy: makesCatalog() })
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
  let [from, depth] = [0, 0]
  for (const { index, 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gu)) {
    if (token === '{') depth++
    if (token !== '}' || --depth > 0) continue
    values.push(JSON.parse(text.slice(from, index + 1)))
    from = index + 1
  }
  if (text.slice(from).trim() !== '') values.push(JSON.parse(text.slice(from)))
  return values
}

/** The packages of `--catalog-file`; undefined without one. Throws `usage` for a file that cannot be read or is no catalog. */
export async function readCatalog(
  { readText }: { readText: (file: string) => Promise<string> },
  file: string | undefined,
): Promise<readonly CatalogPackage[] | undefined> {
  if (file === undefined) return undefined
  const text = await readText(file).catch(cannotRead('catalog-unread', `the catalog ${file}`, makesCatalog()))
  return parseCatalog(text, file)
}
