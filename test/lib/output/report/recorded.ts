import { readFileSync } from 'node:fs'
import { type Report, reportOf } from '../../../../src/lib/output/report/report-model.ts'
import { reportPage } from '../../../../src/lib/output/report/report-page.ts'
import { reportMarkdown, reportView } from '../../../../src/lib/output/report/report-view.ts'
import { timelineOf } from '../../../../src/lib/output/report/timeline.ts'
import { vmTableOf } from '../../../../src/lib/output/report/vm-table.ts'
import { paintFor } from '../../../../src/lib/output/terminal.ts'
import { parseReportSource, type ReportSource } from '../../../../src/lib/output/report/report-source.ts'

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

export const recordedText = (file: Recorded): string => readFileSync(new URL(file, folder), 'utf8')

/** Of a check that finds much, from the examples. */
export const checkText = (): string =>
  readFileSync(new URL('../../../examples/much-speaks-against-it/check.json', import.meta.url), 'utf8')

export const recorded = (file: Recorded): ReportSource => parseReportSource(recordedText(file), file)

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

export const reported = (source: ReportSource): Report => reportOf(source, { redacted: true })
export const page = (source: ReportSource): string =>
  reportPage(reported(source), source, { version: '1.2.3', at: new Date('2026-01-01T00:00:00Z') })

/** Everything that is made of a document. */
export function made(source: ReportSource): string {
  const report = reported(source)
  const lines = reportView('kvup report').text(report, paintFor({ colour: false, unicode: true }), {
    columns: 80,
    wide: false,
  })
  return [
    page(source),
    reportMarkdown(report),
    ...lines,
    JSON.stringify([timelineOf(source), vmTableOf(source)]),
  ].join('\n')
}

/** What a browser reads of a page beside the JSON in it. */
export const bare = (text: string): string =>
  text.replace(/<style>[\s\S]*?<\/style>|<script[\s\S]*?<\/script>/gu, '')
