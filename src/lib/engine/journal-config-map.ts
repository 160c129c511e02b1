import { parseJson } from '../kube/object.ts'
import { type Cluster, objectIn } from '../kube/cluster.ts'
import { type ConfigMap, ConfigMaps } from '../kube/kinds/core-kinds.ts'
import type { Clock } from '../kube/clock.ts'
import { blocked, isConflict, type KvupError } from '../kube/errors.ts'
import {
  bounded,
  emptyJournal,
  type Entry,
  type Journal,
  type KnowsOverrides,
  type JournalContent,
  journalOn,
  type JournalStore,
  type Override,
} from './journal.ts'
import { Overrides } from './overrides.ts'
import { fits } from '../kube/shape.ts'
import shapes from './shapes.json' with { type: 'json' }

type ReadWrite = Pick<Cluster, 'reader' | 'writer'>
type Change = (content: JournalContent) => JournalContent

/** Its name; the namespace is KubeVirt's own. */
const journalName = 'kvup-journal'

const labels = { 'app.kubernetes.io/managed-by': 'kvup' }
const mostTries = 8

interface JournalPlace {
  namespace: string
  /** user@host, for the entries that giving back leaves. */
  who: string
  clock: Clock
  /** Told once of what in it is not the journal's. */
  warn?: (line: string) => void
}

/**
 * The journal in ConfigMap `kvup-journal`, made at the first write. Every write is refused by the server when somebody
 * else wrote first, and is then made anew on what they wrote. It is history: where the ConfigMap is deleted, or holds something else, what was overridden is known from the
 * objects themselves. Lines that are not the journal's are moved aside with the next write.
 */
export function configMapJournal(
  cluster: ReadWrite,
  { namespace, who, clock, warn = () => undefined }: JournalPlace,
): Journal & KnowsOverrides {
  let isTold = false
  const find = async () => {
    const place = await objectIn(cluster.reader, ConfigMaps, { name: journalName, namespace })
    const { content, garbled } = readJournal(place?.data ?? {})
    if (garbled.length > 0 && !isTold) warn(garbledText(garbled, namespace))
    isTold ||= garbled.length > 0
    return { place, content, garbled }
  }
  const once = async (change: Change, confirm: () => Promise<void>): Promise<JournalContent> => {
    const { place, content, garbled } = await find()
    const after = change(content)
    if (after === content) return content
    if (place?.immutable === true) throw immutable(namespace)
    const fitting = bounded(after)
    await confirm()
    const text = { ...writeJournal(fitting), ...(place && movedAside(place, garbled)) }
    await write(cluster, place ?? namespace, text)
    return fitting
  }
  const store: JournalStore = {
    read: async () => (await find()).content,
    async update(change, confirm) {
      for (let tries = 1; ; tries++)
        try {
          return await once(change, confirm)
        } catch (error) {
          if (!isConflict(error) || tries >= mostTries) throw error
          await clock.sleep(50 * tries)
        }
    },
  }
  return journalOn(store, () => ({ by: who, at: clock.now().toISOString() }), {
    onObjects: new Overrides(cluster.reader, namespace),
  })
}

/** Nobody can write into it any more. It has to be made anew with its text: what VMs ran before an upgrade is believed only beside it. */
const immutable = (namespace: string): KvupError =>
  blocked(
    'journal-immutable',
    `configmaps/${journalName} in namespace ${namespace} is immutable: kvup cannot write its journal, and changes nothing without it`,
    {
      object: `configmaps/${journalName} in namespace ${namespace}`,
      remedy: [
        `kubectl -n ${namespace} get configmap ${journalName} -o yaml > ${journalName}.yaml     saves the history`,
        `delete the ConfigMap, take the line "immutable: true" out of the file, and create it again from the file: without the file the history is lost. Then run the same command again`,
      ],
    },
  )

/** Refused (409) when it was changed, or made, by somebody else meanwhile. */
function write(
  { writer }: ReadWrite,
  over: ConfigMap | string,
  text: Readonly<Record<string, string>>,
): Promise<ConfigMap> {
  const { apiVersion, kind } = ConfigMaps
  const data = { ...text }
  if (typeof over === 'string') {
    const metadata = { name: journalName, namespace: over, labels }
    return writer.create(ConfigMaps, { apiVersion, kind, metadata, data })
  }
  const { name, namespace, resourceVersion = '' } = over.metadata
  const moved = over.data?.[formerKey] === undefined ? {} : { [formerKey]: null }
  return writer.mergePatch(
    ConfigMaps,
    { name, namespace },
    { metadata: { resourceVersion, labels }, data: { ...data, ...moved } },
  )
}

/** The key to which lines go that are not the journal's, so that nobody's text is lost. */
const aside = 'unreadable'
const mostAside = 32 * 1024

function movedAside({ data = {} }: ConfigMap, garbled: readonly Garbled[]): Record<string, string> {
  if (garbled.length === 0) return {}
  const text = `${data[aside] ?? ''}${garbled.map(({ line }) => `${line}\n`).join('')}`
  return { [aside]: text.slice(-mostAside) }
}

function garbledText([first, ...more]: readonly Garbled[], namespace: string): string {
  const others = more.length === 0 ? '' : `, and ${more.length} more`
  return `the journal (configmaps/${journalName} in namespace ${namespace}) has entries that kvup did not write: ${first?.why ?? ''}${others}. They are not history; the next write moves them to key "${aside}"`
}

/** How a journal is stored: JSON lines that a person can read with `kubectl get -o yaml`. */
type JournalText = Record<keyof JournalContent, string>

/** The key of the overrides before 22 November: what lies there is a claim like any other, and moved with the next write. */
const formerKey = 'loans'

const writeJournal = ({ entries, overrides, kept }: JournalContent): JournalText => ({
  entries: lines(entries),
  overrides: lines(overrides),
  kept: lines(Object.entries(kept).map(([key, value]) => ({ key, value }))),
})

interface Garbled {
  line: string
  why: string
}

/** What can be read of it, line by line, and the lines that cannot: history lacks them, and nothing else depends on them. */
function readJournal(text: Readonly<Record<string, string>>): {
  content: JournalContent
  garbled: readonly Garbled[]
} {
  const entries = parsed(text, 'entries', isEntry)
  const former = parsed(text, formerKey, isOverride)
  const overrides = parsed(text, 'overrides', isOverride)
  const kept = parsed(text, 'kept', isKept)
  const content = {
    ...emptyJournal,
    entries: entries.values,
    overrides: [...former.values, ...overrides.values],
    kept: Object.fromEntries(kept.values.map(({ key, value }) => [key, value])),
  }
  return { content, garbled: [...entries.garbled, ...former.garbled, ...overrides.garbled, ...kept.garbled] }
}

const lines = (values: readonly unknown[]): string => values.map((v) => `${JSON.stringify(v)}\n`).join('')

function parsed<T>(
  text: Readonly<Record<string, string>>,
  key: string,
  isOne: (value: unknown) => value is T,
): { values: readonly T[]; garbled: readonly Garbled[] } {
  const values: T[] = []
  const garbled: Garbled[] = []
  for (const [index, whole] of (text[key] ?? '').split('\n').entries()) {
    const line = whole.trim()
    if (line === '') continue
    const where = `line ${index + 1} of key "${key}"`
    const value = parseJson(line)
    if (value === undefined) garbled.push({ line, why: `${where} is not JSON` })
    else if (isOne(value)) values.push(value)
    else garbled.push({ line, why: `${where} is no entry of kvup` })
  }
  return { values, garbled }
}

const isEntry = (value: unknown): value is Entry => fits(value, shapes.entry)

const isKept = (value: unknown): value is { key: string; value: unknown } => fits(value, shapes.kept)

const isOverride = (value: unknown): value is Override =>
  fits(value, shapes.override) &&
  (value as Override).was.present === Object.hasOwn((value as Override).was, 'value')
