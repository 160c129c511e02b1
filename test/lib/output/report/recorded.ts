import { readFileSync } from 'node:fs'
import { type Report, reportOf } from '../../../../src/lib/output/report/report-model.ts'
import { reportPage } from '../../../../src/lib/output/report/report-page.ts'
import { reportMarkdown } from '../../../../src/lib/output/report/report-markdown.ts'
import { timelineOf } from '../../../../src/lib/output/report/timeline.ts'
import { vmTableOf } from '../../../../src/lib/output/report/vm-table.ts'
import { sanitiseDeep } from '../../../../src/lib/output/terminal.ts'
import type { ReportSource } from '../../../../src/lib/output/report/fields.ts'

const folder = new URL('documents/', import.meta.url)

/** What kvup printed on the simulated clusters of its demo, with names of hosts in it. */
export const recordedFiles = [
  'plan.json',
  'rehearsal.json',
  'stalled-rehearsal.json',
  'history.json',
  'upgrade.ndjson',
  'stalled.ndjson',
  'workloads-update.ndjson',
  'eus-plan.json',
  'eus-run.ndjson',
] as const

export type Recorded = (typeof recordedFiles)[number]

export function recorded(file: Recorded): ReportSource {
  const text = readFileSync(new URL(file, folder), 'utf8')
  const lines = file.endsWith('.ndjson') ? text.trimEnd().split('\n') : [text]
  const read = lines.map((line) => JSON.parse(line) as ReportSource['document'])
  return { document: sourceOf(read.at(-1) ?? {}).document, events: read.slice(0, -1) }
}

/** A document as a report is made of it. */
export const sourceOf = (document: object): ReportSource => ({
  document: sanitiseDeep(document) as ReportSource['document'],
  events: [],
})

/** A check that finds much, from the examples. */
export const check = (): ReportSource =>
  sourceOf(
    JSON.parse(
      readFileSync(new URL('../../../examples/much-speaks-against-it/check.json', import.meta.url), 'utf8'),
    ) as object,
  )

/** Fields whose values are words of kvup: with another one it is another document. */
const ofKvup = new Set('kind apiVersion event what is level at started ended outcome state result'.split(' '))

/** The same document with these texts, one after the other, in place of every string in it that is no word of kvup. */
export function withTexts(source: ReportSource, texts: readonly string[], first = 0): ReportSource {
  let next = first
  const within = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return ofKvup.has(key) ? value : texts[next++ % texts.length]
    if (Array.isArray(value)) return value.map((one) => within(one, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, within(one, name)]))
  }
  return within(source) as ReportSource
}

export const reported = (source: ReportSource): Report => reportOf(source)
export const page = (source: ReportSource): string =>
  reportPage(source, { version: '1.2.3', at: '2026-01-01T00:00:00Z', redacted: true })

/** Everything that is made of a document. */
export const made = (source: ReportSource): string =>
  [page(source), reportMarkdown(source), JSON.stringify([timelineOf(source), vmTableOf(source)])].join('\n')

/** A page without its style. */
export const bare = (text: string): string => text.replace(/<style>[\s\S]*?<\/style>/u, '')

/** Of a rehearsal of 10,000 VMs. */
export const manyVms: readonly object[] = Array.from({ length: 10_000 }, (_, n) => ({
  namespace: `team-${n % 97}`,
  name: `vm-${n}`,
  tries: n % 50 === 0 ? 'evict' : 'migrate',
  becomes: n % 50 === 0 ? 'stopped' : 'updated',
  attempts: 1 + (n % 3),
  begins: 90 + Math.floor(n / 5),
  ends: 96 + Math.floor(n / 5) + (n % 7),
}))
