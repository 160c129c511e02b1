import { type BarTone, clockText } from './lanes.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf, timeOf } from './fields.ts'
import type { ReportSource } from './report-source.ts'

/** A column of the table of VMs. `span`: seconds. */
export interface VmColumn {
  id: string
  title: string
  holds: 'text' | 'number' | 'span'
  /** It has few values, by which rows can be chosen. */
  chosenBy?: boolean
}

export interface VmTable {
  columns: readonly VmColumn[]
  rows: readonly VmRow[]
  /** What a row is. */
  of: 'VM' | 'event'
  /** What has to be known of the rows. */
  note?: string
}

export type VmRow = Readonly<Record<string, string | number | undefined>>

const place: readonly VmColumn[] = [
  { id: 'namespace', title: 'Namespace', holds: 'text' },
  { id: 'name', title: 'VM', holds: 'text' },
]

const rehearsed: readonly VmColumn[] = [
  ...place,
  { id: 'tries', title: 'KubeVirt tries to', holds: 'text', chosenBy: true },
  { id: 'becomes', title: 'Becomes in the twin', holds: 'text', chosenBy: true },
  { id: 'attempts', title: 'Attempts', holds: 'number' },
  { id: 'begins', title: 'Begins after', holds: 'span' },
  { id: 'ends', title: 'Ends after', holds: 'span' },
]

const moved: readonly VmColumn[] = [
  ...place,
  { id: 'outcome', title: 'Outcome', holds: 'text', chosenBy: true },
  { id: 'by', title: 'By', holds: 'text', chosenBy: true },
  { id: 'wave', title: 'Wave', holds: 'text' },
  { id: 'failures', title: 'Failures', holds: 'number' },
  { id: 'why', title: 'Why', holds: 'text' },
]

const waved: readonly VmColumn[] = [
  ...place,
  { id: 'wave', title: 'Wave', holds: 'text', chosenBy: true },
  { id: 'by', title: 'By', holds: 'text', chosenBy: true },
]

const changed: readonly VmColumn[] = [
  { id: 'kind', title: 'Kind', holds: 'text', chosenBy: true },
  { id: 'namespace', title: 'Namespace', holds: 'text' },
  { id: 'name', title: 'Name', holds: 'text' },
  { id: 'what', title: 'What', holds: 'text', chosenBy: true },
  { id: 'why', title: 'Why', holds: 'text' },
]

const measured: readonly VmColumn[] = [
  ...place,
  { id: 'what', title: 'What', holds: 'text', chosenBy: true },
  { id: 'begins', title: 'Begins (UTC)', holds: 'text' },
  { id: 'seconds', title: 'Takes', holds: 'span' },
  { id: 'sourceNode', title: 'From node', holds: 'text' },
  { id: 'targetNode', title: 'To node', holds: 'text' },
  { id: 'mode', title: 'Mode', holds: 'text' },
  { id: 'why', title: 'Why', holds: 'text' },
]

const down: readonly VmColumn[] = [
  { id: 'vm', title: 'VM', holds: 'text' },
  { id: 'afterwards', title: 'Once the node is back', holds: 'text', chosenBy: true },
]

/** The VMs of a document, and what became of each; undefined where it names none. Runs in the browser too. */
export function vmTableOf({ document }: Pick<ReportSource, 'document'>): VmTable | undefined {
  const { kind } = document
  if (kind === 'Rehearsal') return tableOf(rehearsed, listOf(document['vms']).map(inTwin))
  if (kind === 'WorkloadsUpdate' || kind === 'VmRestarts') {
    const items = listOf(document['items'])
    return items.length > 0 ? tableOf(moved, items.map(inWords)) : tableOf(waved, inWaves(document))
  }
  const told = measuredRows(document)
  if (kind === 'UpgradeReport' || kind === 'EusReport') {
    const changes = listOf(document['changes'])
    if (changes.length === 0) return told
    const [kinds, ...rest] = changed
    const further = measured.filter(({ id }) => !rest.some((column) => column.id === id))
    const rows = told?.rows.map((row) => ({ ...row, kind: 'VM' })) ?? []
    const columns = kinds === undefined ? [] : [kinds, ...rest, ...further]
    return withNote(tableOf(columns, [...changes, ...rows]), told?.note)
  }
  if (told !== undefined) return told
  return kind === 'EusPlan' ? tableOf(down, listOf(document['outages'])) : undefined
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

const interruptions: Readonly<Record<string, string>> = {
  restarted: 'interrupted: restarted',
  failed: 'interrupted: failed',
  stopped: 'interrupted: stopped',
  deleted: 'interrupted: deleted',
}

/** Interruptions, migrations and lost guest agents of a measurement. */
export const measuredEvents = (vms: Fields): readonly MeasuredEvent[] => [
  ...listOf(fieldsOf(vms['interrupted'])['items']).map(interruption),
  ...listOf(fieldsOf(vms['migrations'])['items']).map(migration),
  ...listOf(fieldsOf(fieldsOf(vms['agents'])['lost'])['items']).map(lostAgent),
]

function interruption(of: Fields): MeasuredEvent {
  const what = interruptions[textOf(of['how']) ?? ''] ?? 'interrupted'
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
function measuredRows(document: Fields): VmTable | undefined {
  const vms = fieldsOf(fieldsOf(document['availability'])['vms'])
  const told = measuredEvents(vms)
  const times = told.flatMap(({ from }) => from ?? [])
  const span = Math.max(...times, 0) - Math.min(...times, Infinity)
  const rows = told.map(({ of, what, from, seconds, why }) => {
    const [namespace, ...name] = (textOf(of['vm']) ?? '').split('/')
    const { sourceNode, targetNode, mode } = of
    const begins = from && clockText(new Date(from), span)
    return { namespace, name: name.join('/'), what, begins, seconds, sourceNode, targetNode, mode, why }
  })
  const counted = [vms['interrupted'], vms['migrations'], fieldsOf(vms['agents'])['lost']]
  const total = counted.reduce<number>((sum, one) => sum + (numberOf(fieldsOf(one)['count']) ?? 0), 0)
  const note =
    total > rows.length ? `Measured were ${total}: the document names the first of each kind.` : undefined
  const table = tableOf(measured, rows)
  return table && withNote({ ...table, of: 'event' }, note)
}

const withNote = (table: VmTable | undefined, note: string | undefined): VmTable | undefined =>
  table && note !== undefined ? { ...table, note } : table
/** What a VM became in the twin, in words: `still on v1.7.4`. */
export function becameText({ becomes, launcher }: Fields): string | undefined {
  if (becomes !== 'outdated') return textOf(becomes)
  const tag = /:([\w.-]+)$/u.exec(textOf(launcher) ?? '')?.[1]
  return `still on ${tag ?? 'the old virt-launcher'}`
}

const inTwin = (vm: Fields): Fields => ({ ...vm, becomes: becameText(vm) })

/** `left` is a word of the documents; a person reads what it means. */
const inWords = (item: Fields): Fields =>
  item['outcome'] === 'left' ? { ...item, outcome: 'not moved' } : item

const inWaves = (document: Fields): readonly Fields[] =>
  listOf(document['waves']).flatMap((wave) => {
    const title = textOf(wave['title']) ?? textOf(wave['id'])
    return listOf(wave['vms']).map((vm) => inWave(vm, title))
  })

const inWave = (vm: Fields, wave: string | undefined): Fields => ({ ...vm, wave })

/** A column that is empty in every row is left out. */
function tableOf(columns: readonly VmColumn[], items: readonly Fields[]): VmTable | undefined {
  if (items.length === 0) return undefined
  const rows = items.map((item) =>
    Object.fromEntries(columns.map(({ id, holds }) => [id, valueOf(item[id], holds)])),
  )
  return { columns: columns.filter(({ id }) => rows.some((row) => row[id] !== undefined)), rows, of: 'VM' }
}

function valueOf(value: unknown, holds: VmColumn['holds']): string | number | undefined {
  if (holds !== 'text') return numberOf(value)
  const text = textOf(value)
  return text === undefined || text === '' ? undefined : text
}

/** `migrate: 12`, the values by which rows are chosen, the most frequent first. */
export function countsIn({ rows }: VmTable, { id }: VmColumn): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const value = String(row[id] ?? '')
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts].toSorted((a, b) => b[1] - a[1])
}
