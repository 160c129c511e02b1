import { spanText } from '../../kube/duration.ts'
import { count } from '../text.ts'
import { type BarTone, clockText } from './lanes.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf, timeOf, type ReportSource } from './fields.ts'
import type { ReportTable } from './report-table.ts'

interface Column {
  id: string
  title: string
  /** It has few values, which are counted. */
  isCounted?: true
}

const place: readonly Column[] = [
  { id: 'namespace', title: 'Namespace' },
  { id: 'name', title: 'VM' },
]

const rehearsed: readonly Column[] = [
  ...place,
  { id: 'tries', title: 'KubeVirt tries to', isCounted: true },
  { id: 'becomes', title: 'Becomes in the twin', isCounted: true },
  { id: 'attempts', title: 'Attempts' },
  { id: 'begins', title: 'Begins after' },
  { id: 'ends', title: 'Ends after' },
]

const moved: readonly Column[] = [
  ...place,
  { id: 'outcome', title: 'Outcome', isCounted: true },
  { id: 'by', title: 'By', isCounted: true },
  { id: 'wave', title: 'Wave' },
  { id: 'failures', title: 'Failures' },
  { id: 'why', title: 'Why' },
]

const waved: readonly Column[] = [
  ...place,
  { id: 'wave', title: 'Wave', isCounted: true },
  { id: 'by', title: 'By', isCounted: true },
]

const measured: readonly Column[] = [
  ...place,
  { id: 'what', title: 'What', isCounted: true },
  { id: 'why', title: 'Why' },
  { id: 'begins', title: 'Begins (UTC)' },
  { id: 'seconds', title: 'Takes' },
  { id: 'sourceNode', title: 'From node' },
  { id: 'targetNode', title: 'To node' },
  { id: 'mode', title: 'Mode' },
]

/** Volumes change too. */
const changed: readonly Column[] = [{ id: 'kind', title: 'Kind', isCounted: true }, ...measured]

const down: readonly Column[] = [
  { id: 'vm', title: 'VM' },
  { id: 'afterwards', title: 'Once the node is back', isCounted: true },
]

/** The VMs of a document, and what became of each; undefined where it names none. */
export function vmTableOf({ document }: Pick<ReportSource, 'document'>): ReportTable | undefined {
  const { kind } = document
  if (kind === 'Rehearsal') return tableOf(rehearsed, listOf(document['vms']).map(inTwin))
  if (kind === 'WorkloadsUpdate' || kind === 'VmRestarts') {
    const items = listOf(document['items'])
    return items.length > 0 ? tableOf(moved, items.map(inWords)) : tableOf(waved, inWaves(document))
  }
  if (kind === 'EusPlan') return tableOf(down, listOf(document['outages']))
  const [told, changes] = [measuredRows(document), listOf(document['changes'])]
  if (changes.length === 0) return tableOf(measured, told.rows, told.note)
  return tableOf(changed, [...changes, ...told.rows.map((row) => ({ ...row, kind: 'VM' }))], told.note)
}

/** Something that became of a VM while it was measured. Times are ms since the epoch, absent where they were not told. */
interface MeasuredEvent {
  of: Fields
  what: string
  from: number | undefined
  to: number | undefined
  seconds: number | undefined
  /** Where no end was told it is over all the same; else it went on until the measurement ended. */
  isOver: boolean
  tone: BarTone
  why?: string
}

const interruptions = ['restarted', 'failed', 'stopped', 'deleted']

/** Interruptions, migrations and lost guest agents of a measurement. */
export const measuredEvents = (vms: Fields): readonly MeasuredEvent[] => [
  ...listOf(fieldsOf(vms['interrupted'])['items']).map(interruption),
  ...listOf(fieldsOf(vms['migrations'])['items']).map(migration),
  ...listOf(fieldsOf(fieldsOf(vms['agents'])['lost'])['items']).map(lostAgent),
]

function interruption(of: Fields): MeasuredEvent {
  const how = interruptions.find((word) => word === of['how'])
  const what = how === undefined ? 'interrupted' : `interrupted: ${how}`
  return { of, what, tone: 'bad', isOver: false, ...spanOf(of, 'at', 'runsAgain') }
}

function migration(of: Fields): MeasuredEvent {
  const [why, span] = [textOf(of['failed']), spanOf(of, 'begin', 'end')]
  return why === undefined
    ? { of, what: 'migrated', tone: 'good', isOver: true, ...span }
    : { of, what: 'migration failed', tone: 'warn', isOver: true, why, ...span }
}

function lostAgent(of: Fields): MeasuredEvent {
  const what = 'guest agent not connected'
  return { of, what, tone: 'warn', isOver: false, ...spanOf(of, 'at', 'connectedAgain') }
}

function spanOf(of: Fields, begin: string, end: string): Pick<MeasuredEvent, 'from' | 'to' | 'seconds'> {
  const [from, to] = [timeOf(of[begin]), timeOf(of[end])]
  const between =
    from === undefined || to === undefined || to < from ? undefined : Math.round((to - from) / 1000)
  return { from, to, seconds: numberOf(of['seconds']) ?? between }
}

/** A row for each thing that happened: a VM may have several. */
function measuredRows(document: Fields): { rows: readonly Fields[]; note: readonly string[] } {
  const vms = fieldsOf(fieldsOf(document['availability'])['vms'])
  const events = measuredEvents(vms)
  const times = events.flatMap(({ from }) => from ?? [])
  const span = Math.max(...times, 0) - Math.min(...times, Infinity)
  const rows = events.map(({ of, what, from, seconds, why }) => {
    const [namespace, ...name] = (textOf(of['vm']) ?? '').split('/')
    const begins = from && clockText(new Date(from), span)
    const told = { namespace, name: name.join('/'), what, begins, why, seconds: secondsText(seconds) }
    return Object.assign({}, of, told)
  })
  const counted = [vms['interrupted'], vms['migrations'], fieldsOf(vms['agents'])['lost']]
  const total = counted.reduce<number>((sum, one) => sum + (numberOf(fieldsOf(one)['count']) ?? 0), 0)
  const note = `Measured were ${total}: the document names the first of each kind.`
  return { rows, note: total > rows.length ? [note] : [] }
}

const secondsText = (seconds: unknown): string | undefined => {
  const known = numberOf(seconds)
  return known === undefined ? undefined : spanText(known * 1000)
}

/** What a VM became in the twin, in words: `still on v1.7.4`. */
export function becameText({ becomes, launcher }: Fields): string | undefined {
  if (becomes !== 'outdated') return textOf(becomes)
  const tag = /:([\w.-]+)$/u.exec(textOf(launcher) ?? '')?.[1]
  return `still on ${tag ?? 'the old virt-launcher'}`
}

const inTwin = (vm: Fields): Fields => ({
  ...vm,
  becomes: becameText(vm),
  begins: secondsText(vm['begins']),
  ends: secondsText(vm['ends']),
})

/** `left` is a word of the documents; a person reads what it means. */
const inWords = (item: Fields): Fields =>
  item['outcome'] === 'left' ? { ...item, outcome: 'not moved' } : item

const inWaves = (document: Fields): readonly Fields[] =>
  listOf(document['waves']).flatMap((wave) => {
    const title = textOf(wave['title']) ?? textOf(wave['id'])
    return listOf(wave['vms']).map((vm): Fields => Object.assign({}, vm, { wave: title }))
  })

/** A page has to open. */
const mostRows = 500

/** A column that is empty in every row is left out. Of very many rows those whose values are rare come first: of thousands that moved the few that did not. */
function tableOf(
  all: readonly Column[],
  items: readonly Fields[],
  note: readonly string[] = [],
): ReportTable | undefined {
  if (items.length === 0) return undefined
  const columns = all.filter(({ id }) => items.some((item) => (textOf(item[id]) ?? '') !== ''))
  const counts = columns
    .filter(({ isCounted }) => isCounted)
    .map(({ id, title }) => ({ id, title, counts: countsOf(items, id) }))
  const rarity = (item: Fields) =>
    Math.min(...counts.map((one) => one.counts.get(textOf(item[one.id]) ?? '') ?? Infinity))
  const isLong = items.length > mostRows
  const shown = isLong ? items.toSorted((a, b) => rarity(a) - rarity(b)).slice(0, mostRows) : items
  const isOfChanges = columns.some(({ id }) => id === 'kind')
  return {
    title: isOfChanges ? 'VMs and volumes that changed' : 'VMs',
    heads: columns.map(({ title }) => title),
    rows: shown.map((item) => columns.map(({ id }) => textOf(item[id]) ?? '')),
    says: [
      `${count(items.length, isOfChanges ? 'object' : all === measured ? 'event' : 'VM')}.`,
      ...(isLong
        ? [`Below are ${mostRows} of them, what is rare first: -o json of the command has all.`]
        : []),
      ...note,
      ...counts.map(
        (one) => `${one.title}: ${[...one.counts].map(([value, many]) => `${value} ${many}`).join(', ')}`,
      ),
    ],
  }
}

/** `migrate: 12`, the most frequent first. */
function countsOf(items: readonly Fields[], id: string): ReadonlyMap<string, number> {
  const groups = Map.groupBy(
    items.map((item) => textOf(item[id]) ?? '').filter((value) => value !== ''),
    (value) => value,
  )
  return new Map(
    [...groups].map(([value, own]) => [value, own.length] as const).toSorted((a, b) => b[1] - a[1]),
  )
}
