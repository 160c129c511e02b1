import { type Fields, listOf, numberOf, textOf } from './fields.ts'
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
  if (kind === 'UpgradeReport' || kind === 'EusReport') return tableOf(changed, listOf(document['changes']))
  return kind === 'EusPlan' ? tableOf(down, listOf(document['outages'])) : undefined
}

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
  return { columns: columns.filter(({ id }) => rows.some((row) => row[id] !== undefined)), rows }
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
