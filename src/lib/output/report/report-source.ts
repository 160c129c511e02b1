import { parseDocument } from 'yaml'
import { usageError } from '../../kube/errors.ts'
import { nearest } from '../../kube/text.ts'
import { sanitiseDeep } from '../terminal.ts'
import { type Fields, fieldsOf, textOf } from './fields.ts'

/** What a report is made of: a document of kvup, and the events of its run where they were kept (`-o ndjson`). */
export interface ReportSource {
  document: Fields & { kind: string }
  events: readonly Fields[]
}

/** Of which documents there is a report, and what a person calls them. */
export const reportKinds: Readonly<Record<string, string>> = {
  CheckReport: 'Check',
  UpgradePlan: 'Upgrade plan',
  EusPlan: 'Plan of an EUS upgrade',
  Rehearsal: 'Rehearsal',
  FaultRehearsals: 'Rehearsals with faults',
  UpgradeReport: 'Upgrade',
  EusReport: 'EUS upgrade',
  WorkloadsUpdate: 'Update of VMs',
  VmRestarts: 'Restarts of VMs',
  History: 'KubeVirt, run',
  Events: 'Run',
  MeasuredCommand: 'Measurement',
  Error: 'Failed command',
}

/** Of a run whose output ends before its document: what was heard of it. */
const onlyEvents = { apiVersion: 'kvup.io/v1alpha1', kind: 'Events' }

/** In characters: the document of 10,000 VMs has some millions. */
const longest = 100_000_000

/**
 * What is in a file: a document as JSON or YAML, or the lines of `-o ndjson`, where what was written last may be cut off. Nothing in it acts on a terminal or a page any more.
 * Throws `usage` for everything else.
 */
export function parseReportSource(text: string, file: string): ReportSource {
  if (text.trim() === '') throw noDocument(file, 'it is empty')
  if (text.length > longest) throw noDocument(file, 'it is too large')
  const found = fromJson(text) ?? fromLines(text) ?? fromYaml(text, file)
  const { kind } = found.document
  if (kind in reportKinds) return found
  const near = nearest(kind, Object.keys(reportKinds))
  const hint = near === undefined ? '' : ` (not ${near})`
  throw noDocument(file, kind === '' ? 'it has no kind' : `it is of kind ${JSON.stringify(kind)}${hint}`)
}

const noDocument = (file: string, why: string): Error =>
  usageError('not-a-document', `no report can be made of ${JSON.stringify(file)}: ${why}`, {
    remedy: [
      'kvup check -o json > check.json     makes a document that there is a report of',
      'kvup report --help     lists the documents that there is a report of',
    ],
  })

const sourceOf = (value: unknown, events: readonly Fields[] = []): ReportSource => {
  const fields = fieldsOf(sanitiseDeep(value))
  return { document: { ...fields, kind: textOf(fields['kind']) ?? '' }, events }
}

function fromJson(text: string): ReportSource | undefined {
  const value = jsonOf(text)
  return value === undefined ? undefined : isEvent(value) ? ofLines([value]) : sourceOf(value)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isEvent = (value: unknown): value is Fields => fieldsOf(value)['kind'] === 'Event'

/** Undefined where its first line is no JSON. The last one may be cut off. */
function fromLines(text: string): ReportSource | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (typeof jsonOf(lines[0] ?? '') !== 'object') return undefined
  return ofLines(lines.map(jsonOf).filter((value) => value !== undefined))
}

function ofLines(values: readonly unknown[]): ReportSource {
  const events = values.filter(isEvent).map((event) => fieldsOf(sanitiseDeep(event)))
  const document = values.findLast((value) => !isEvent(value))
  return sourceOf(document ?? onlyEvents, events)
}

function fromYaml(text: string, file: string): ReportSource {
  const parsed = parseDocument(text, { prettyErrors: false })
  const [error] = parsed.errors
  if (error) throw noDocument(file, `it is neither JSON nor YAML: ${error.message}`)
  try {
    return sourceOf(parsed.toJS({ maxAliasCount: 0 }))
  } catch (cause) {
    throw noDocument(file, `it is broken: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
