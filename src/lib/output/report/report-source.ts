import { shellWord } from '../../kube/shell-line.ts'
import { parseDocument } from 'yaml'
import { KvupError, usageError } from '../../kube/errors.ts'
import { nearest } from '../../kube/text.ts'
import { sanitiseDeep } from '../terminal.ts'
import { count } from '../text.ts'
import { type Fields, fieldsOf, textOf } from './fields.ts'

/** What a report is made of: a document of kvup, and the events of its run where they were kept (`-o ndjson`). */
export interface ReportSource {
  document: Fields & { kind: string }
  events: readonly Fields[]
  /** What of the file is not in the report, in sentences. */
  remarks?: readonly string[]
}

/** Of which documents there is a report, and what a person calls them. */
export const reportKinds: Readonly<Record<string, string>> = {
  CheckReport: 'Check',
  UpgradePlan: 'Upgrade plan',
  EusPlan: 'Plan of an EUS upgrade',
  Rehearsal: 'Rehearsal',
  UpgradeReport: 'Upgrade',
  EusReport: 'EUS upgrade',
  WorkloadsUpdate: 'Update of VMs',
  VmRestarts: 'Restarts of VMs',
  FleetCheck: 'Check of a fleet',
  FleetPlan: 'Fleet plan',
  FleetReport: 'Fleet upgrade',
  FleetStatus: 'Fleet',
  History: 'KubeVirt, run',
  Events: 'Run',
  MeasuredCommand: 'Measurement',
  Error: 'Failed command',
}

/** Of a run whose output ends before its document: what was heard of it. */
const onlyEvents = { apiVersion: 'kvup.io/v1alpha1', kind: 'Events' }

/** In characters: the document of 10,000 VMs has some millions. */
const longest = 100_000_000

/** Levels of lists and objects within each other: those of kvup have some 20. */
const deepest = 100

/**
 * What is in a file: a document as JSON or YAML, or the lines of `-o ndjson`, where what was written last may be cut off. Of several runs in one file the last one. Nothing in
 * it acts on a terminal or a page any more.
 * Throws `usage` for everything else.
 */
export function parseReportSource(text: string, file: string): ReportSource {
  if (text.trim() === '') throw noDocument(file, 'it is empty')
  if (text.length > longest) throw noDocument(file, 'it is too large')
  // gzip, read as text.
  if (text.startsWith('\u001F'))
    throw noDocument(file, 'it is compressed: kvup report takes what kvup prints', [
      `kvup check --from ${shellWord(file)} -o json > check.json     makes one of a saved cluster`,
    ])
  const { document, events = [], remarks } = fromJson(text) ?? fromLines(text) ?? fromYaml(text, file)
  if ([document, ...events].some(isTooDeep))
    throw noDocument(file, `it is nested deeper than ${deepest} levels`)
  const fields = fieldsOf(sanitiseDeep(document))
  const kind = textOf(fields['kind']) ?? ''
  if (Object.hasOwn(reportKinds, kind))
    return {
      document: { ...fields, kind },
      events: events.map((event) => sanitiseDeep(event)),
      ...(remarks !== undefined && remarks.length > 0 && { remarks }),
    }
  const near = nearest(kind, Object.keys(reportKinds))
  const hint = near === undefined ? '' : ` (not ${near})`
  throw noDocument(file, kind === '' ? 'it has no kind' : `it is of kind ${JSON.stringify(kind)}${hint}`)
}

const noDocument = (file: string, why: string, helps: readonly string[] = []): Error =>
  usageError('not-a-document', `no report can be made of ${JSON.stringify(file)}: ${why}`, {
    remedy: [
      ...helps,
      'kvup check -o json > check.json     makes a document that there is a report of',
      'kvup report --help     lists the documents that there is a report of',
    ],
  })

/** As it was written: its texts may act on a terminal yet. */
interface Found {
  document: unknown
  events?: readonly Fields[]
  remarks?: readonly string[]
}

/** Without recursion, which a deep one would exhaust. */
function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}

function fromJson(text: string): Found | undefined {
  const value = jsonOf(text)
  return value === undefined ? undefined : isEvent(value) ? ofRuns([value]) : { document: value }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isEvent = (value: unknown): value is Fields => fieldsOf(value)['kind'] === 'Event'

/** Undefined where no line is an object of kvup. Lines are cut where a log was rotated, and where kvup was killed. */
function fromLines(text: string): Found | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const values = lines.map((line) => (line.startsWith('{') ? jsonOf(line) : undefined))
  const known = (value: unknown) => isEvent(value) || Object.hasOwn(reportKinds, kindOf(value))
  if (values[0] === undefined && !values.some(known)) return undefined
  const read = values.filter((value) => value !== undefined)
  const found = ofRuns(read)
  // Of a run whose beginning or end is cut off the report says so anyway.
  const isToldAtEnd = found.document === onlyEvents && values.at(-1) === undefined && !text.endsWith('\n')
  const isToldAtBegin = isEvent(read[0]) && values[0] === undefined && !read.some(isStart)
  const unread = values.length - read.length - (isToldAtEnd ? 1 : 0) - (isToldAtBegin ? 1 : 0)
  if (unread === 0) return found
  const lost = `${count(unread, 'line')} of the file ${unread === 1 ? 'is' : 'are'} not JSON, and left out.`
  return { ...found, remarks: [lost, ...(found.remarks ?? [])] }
}

const kindOf = (value: unknown): string => textOf(fieldsOf(value)['kind']) ?? ''
const isStart = (value: unknown): boolean => isEvent(value) && value['event'] === 'run-started'

/** What one command has printed. */
interface Printed {
  events: Fields[]
  document?: unknown
}

/** Something may be told before a run starts. */
const isRun = ({ events }: Printed): boolean => events.some(({ event }) => event !== 'remark')

/** Where several commands have printed into one file, the last run; without any the last document. */
function ofRuns(values: readonly unknown[]): Found {
  const all: Printed[] = [{ events: [] }]
  for (const value of values) {
    const last = all.at(-1)
    const isNext = last === undefined || last.document !== undefined || (isStart(value) && isRun(last))
    const printed = isNext ? { events: [] } : last
    if (isNext) all.push(printed)
    if (isEvent(value)) printed.events.push(value)
    else printed.document = value
  }
  const runs = all.filter(isRun)
  const others = all.filter((one) => one.document !== undefined && !isRun(one))
  const chosen = runs.at(-1) ?? others.at(-1) ?? { events: [] }
  return {
    document: chosen.document ?? onlyEvents,
    events: chosen.events,
    remarks: [...besides(chosen, runs, others), ...(isWhole(chosen.events) ? [] : [linesMissing])],
  }
}

function besides(chosen: Printed, runs: readonly Printed[], others: readonly Printed[]): readonly string[] {
  const kinds = new Set(others.filter((one) => one !== chosen).map(({ document }) => kindOf(document)))
  const names = [...kinds].map((kind) => (Object.hasOwn(reportKinds, kind) ? reportKinds[kind] : 'unknown'))
  return [
    ...(runs.length > 1 ? [`The file has ${runs.length} runs: this report is of the last one.`] : []),
    ...(names.length > 0
      ? [`The file has other documents, which are not in this report: ${[...new Set(names)].join(', ')}.`]
      : []),
  ]
}

const linesMissing = 'Lines are missing within this run: what they told is not in the report.'

/** Where the beginning is cut off, a step of any id may be under way. */
const anyStep = Symbol('any step')

/** Steps are done one after the other, and each begins before it does anything. */
function isWhole(events: readonly Fields[]): boolean {
  const started = events.findIndex(isStart)
  let open: unknown = started < 0 ? anyStep : undefined
  return events.slice(started + 1).every(({ event, step }) => {
    const id = textOf(fieldsOf(step)['id'])
    if (event === 'step-started') {
      const isFree = open === undefined || open === anyStep
      open = id
      return isFree
    }
    if (event !== 'step-applied' && event !== 'step-waiting' && event !== 'step-done') return true
    const isOpen = open === id || open === anyStep
    open = event === 'step-done' ? undefined : id
    return isOpen
  })
}

function fromYaml(text: string, file: string): Found {
  try {
    const parsed = parseDocument(text, { prettyErrors: false })
    const [error] = parsed.errors
    if (error) throw noDocument(file, `it is neither JSON nor YAML: ${error.message}`)
    return { document: parsed.toJS({ maxAliasCount: 0 }) }
  } catch (cause) {
    if (cause instanceof KvupError) throw cause
    throw noDocument(file, `it is broken: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
