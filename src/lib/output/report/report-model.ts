import { spanText } from '../../kube/duration.ts'
import type { Entry } from '../../engine/journal.ts'
import type { Verdict } from '../formats/verdicts.ts'
import { outcomeWords } from '../views/rehearsal.ts'
import { count } from '../text.ts'
import {
  type Fields,
  fieldsOf,
  listOf,
  numberOf,
  placedName,
  textOf,
  textsOf,
  timeOf,
  type ReportSource,
} from './fields.ts'
import { type ReportChange, changesOf } from './report-changes.ts'
import { clustersOf } from './report-clusters.ts'
import { acceptedTable, findingsOf, type ReportFinding } from './report-findings.ts'
import { isOfTwin, type Note, notesOf, noWayBackIn } from './report-notes.ts'
import { rehearsedTable, type ReportTable } from './report-table.ts'
import { verdictIn } from './report-verdict.ts'

/** What a person calls the documents that there is a report of. */
const reportKinds: Readonly<Record<string, string>> = {
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
  FleetStatus: 'Fleet',
  History: 'KubeVirt, run',
  Error: 'Failed command',
}

/** What a page or a ticket says of a document. */
export interface Report {
  title: string
  verdict: Verdict
  /** What has to be known before the rest is believed: that it was cut, for example. */
  remarks: readonly string[]
  /** What to type or do next. */
  next: readonly string[]
  facts: readonly { name: string; value: string }[]
  findings: readonly ReportFinding[]
  /** Clusters of a fleet, accepted risks, what was rehearsed and what happened: each where the document has it. */
  tables: readonly ReportTable[]
  changes: readonly ReportChange[]
  /** Whatever else the document says in sentences. */
  notes: readonly Note[]
}

/** What a page or a ticket lacks that may be forwarded. */
export const redactedText =
  'Passwords, values of environment variables, annotations, addresses and names of hosts with a domain are left out; --full has them. Names of nodes without a domain, of VMs and of namespaces are in it.'

/** Everything but the table of VMs and the timeline, which only a page has. Pure. */
export function reportOf(source: ReportSource): Report {
  const { document } = source
  const verdict = verdictIn(document)
  return {
    title: titleOf(document),
    verdict,
    remarks: remarksOf(document),
    next: nextOrNothing(document, verdict),
    facts: factsOf(document),
    findings: findingsOf(document),
    tables: [clustersOf(document), acceptedTable(document), rehearsedTable(document)].filter(
      (table) => table !== undefined,
    ),
    changes: changesOf(source),
    notes: notesOf(document),
  }
}

function titleOf(document: ReportSource['document']): string {
  const what = whatOf(document)
  const [run] = listOf(document['runs'])
  const { from, to } = document.kind === 'History' ? fieldsOf(run) : document
  const kubevirt = fieldsOf(document['kubevirt'])
  const was = textOf(from) ?? textOf(kubevirt['version'])
  const goal = textOf(to)
  const path = [was, goal].filter((version, i, all) => version !== undefined && version !== all[i - 1])
  const number = numberOf(run?.['run']) ?? numberOf(document['run'])
  return [what + (document.kind === 'History' && number !== undefined ? ` ${number}` : ''), path.join(' → ')]
    .filter((part) => part !== '')
    .join(': ')
}

/** `KubeVirt, run`: of a journal by what it did. */
function whatOf(document: ReportSource['document']): string {
  const isEus = /^eus\b/iu.test(textOf(firstRun(document)['procedure']) ?? '')
  return isEus ? 'EUS upgrade, run' : (reportKinds[document.kind] ?? document.kind)
}

/** Journals lose entries, and runs are killed: whoever reads has to know. */
function remarksOf(document: ReportSource['document']): readonly string[] {
  const notes = [
    ...noWayBackIn(document),
    ...(document['status'] === 'partial' ? ['This document is partial: not everything could be read.'] : []),
  ]
  if (isOfTwin(document)) return [twinRemark(document), ...notes]
  return document.kind === 'History' ? [...journalRemarks(document), ...notes] : notes
}

/** Above everything that reads like the state of a cluster. */
const twinRemark = (document: Fields): string =>
  `Played on a twin: ${twinText(fieldsOf(document['twin']))}. Nothing was changed in the cluster.`

function journalRemarks(document: Fields): readonly string[] {
  const [run] = listOf(document['runs'])
  const items = listOf(document['items']) as readonly unknown[] as readonly Entry[]
  const result = textOf(run?.['result'])
  const step = textOf(run?.['step'])
  const changed = /^changed: (.*)$/u.exec(items.find(({ what }) => what === 'finished')?.text ?? '')?.[1]
  const missing = (changed?.split(', ') ?? []).filter(
    (id) => !items.some((item) => item.what === 'applied' && item.step === id),
  )
  return [
    ...(result === 'cut-off'
      ? [
          `The journal was cut: this run wrote down no end${step === undefined ? '' : `, and nothing after ${step}`}. It was killed, or could write no more. What it did after that is not known; kvup status says how the cluster is now.`,
        ]
      : []),
    ...(result === 'running' ? ['This run is not over: the report ends where it was made.'] : []),
    ...(items.some(({ what }) => what === 'started')
      ? []
      : ['The journal was cut: it no longer has the start of this run.']),
    ...(missing.length > 0
      ? [`The journal was cut: it no longer has these changes of this run: ${missing.join(', ')}.`]
      : []),
  ]
}

const status = 'kvup status     shows how the cluster is now, and what to type next'

/** How a document ends that leaves nothing to be done where it names nothing; of a plan or a dry run everything is. */
const ends = new Set(['done', 'nothing-to-do', 'passed', 'restored'])

/** A journal knows nothing of VMs and of later runs: even after a run that is done it has no last word. */
function nextOrNothing(document: Fields, { is }: Verdict): readonly string[] {
  const next = nextOf(document)
  if (next.length > 0) return next
  if (is !== 'good' || document['kind'] === 'History') return [status]
  const isOver = ends.has(textOf(document['outcome']) ?? '')
  return isOver ? ['Nothing to do.'] : []
}

/** Of a rehearsal what its run printed is about the twin: there nothing ran that could go on or be restored in the cluster. */
function nextOf(document: Fields): readonly string[] {
  if (isOfTwin(document)) return [...new Set(textsOf(document['next']))]
  const error = fieldsOf(document['error'])
  const why = fieldsOf(document['why'])
  const restore = textOf(document['restore'])
  return [
    ...new Set([
      ...textsOf(error['remedy']),
      ...textsOf(why['remedy']),
      ...textsOf(document['next']),
      ...(restore === undefined ? [] : [restore]),
      ...listOf(document['left']).flatMap(({ restores }) => textOf(restores) ?? []),
    ]),
  ]
}

/** Short values that a reader looks for, in this order. */
function factsOf(document: Fields): Report['facts'] {
  const pairs = [...factsOfTarget(document), ...factsOfRun(document), ...factsOfMaking(document)]
  return pairs.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [{ name, value }]))
}

type Fact = readonly [name: string, value: string | undefined]

const firstRun = (document: Fields): Fields => fieldsOf(listOf(document['runs'])[0])

function factsOfTarget(document: Fields): readonly Fact[] {
  const all = { ...document, ...firstRun(document) }
  const [cluster, kubevirt] = [fieldsOf(document['cluster']), fieldsOf(document['kubevirt'])]
  return [
    ['Cluster', [textOf(cluster['context']), textOf(cluster['server'])].filter(Boolean).join(', ')],
    ['KubeVirt', document['kind'] === 'History' ? inNamespace(document) : placedName(kubevirt)],
    ['Kubernetes', textOf(document['kubernetes'])],
    ['From', textOf(all['from']) ?? textOf(kubevirt['version'])],
    ['To', textOf(all['to'])],
    ['Method', textOf(all['method'])],
    ['Operator', operatorText(fieldsOf(document['operator']))],
  ]
}

const inNamespace = ({ namespace }: Fields): string | undefined =>
  textOf(namespace) === undefined ? undefined : `in namespace ${textOf(namespace)}`

function factsOfRun(document: Fields): readonly Fact[] {
  const run = firstRun(document)
  const seconds = numberOf(document['tookSeconds']) ?? numberOf(document['seconds'])
  const took = numberOf(run['tookMs']) ?? (seconds === undefined ? undefined : seconds * 1000)
  const { by } = fieldsOf(document['comparedWith'])
  return [
    ['Outcome', outcomeText(document)],
    ['Run', textOf(run['run']) ?? textOf(document['run'])],
    ['Continues', run['continues'] === undefined ? undefined : `run ${textOf(run['continues'])}`],
    ['Continued by', run['continuedBy'] === undefined ? undefined : `run ${textOf(run['continuedBy'])}`],
    ['By', textOf(run['by']) ?? textOf(fieldsOf(document['seal'])['by']) ?? textOf(by)],
    ['Started', whenText(run['started'])],
    ['Ended', whenText(run['ended'])],
    ['Took', took === undefined ? undefined : spanText(took)],
  ]
}

/** `through` is a word of the documents; a person reads that it goes through. */
function outcomeText(document: Fields): string | undefined {
  const outcome = textOf(document['outcome'])
  return isOfTwin(document) && outcome !== undefined ? outcomeWords(outcome) : outcome
}

function factsOfMaking(document: Fields): readonly Fact[] {
  const measured = fieldsOf(document['availability'])
  return [
    ['Estimate', textOf(fieldsOf(document['time'])['says'])],
    ['Made', whenText(document['takenAt'] ?? fieldsOf(document['seal'])['at'] ?? document['asOf'])],
    ['Twin', document['twin'] === undefined ? undefined : twinText(fieldsOf(document['twin']))],
    ['Seed', textOf(document['seed'])],
    ['Checks', countsText(fieldsOf(document['counts']))],
    ['VMs', totalsText(document)],
    ['Measured', textOf(measured['summary'])],
    [
      'Availability',
      availabilityText(fieldsOf(document['availability'] ?? listOf(document['runs'])[0]?.['availability'])),
    ],
  ]
}

const operatorText = (operator: Fields): string =>
  [
    textOf(operator['package']),
    [textOf(operator['from']), textOf(operator['to'])].filter(Boolean).join(' → '),
  ]
    .filter(Boolean)
    .join(' ')

const twinText = (twin: Fields): string =>
  `${count(numberOf(twin['nodes']) ?? 0, 'node')}, ${count(numberOf(twin['running']) ?? 0, 'running VM')}`

/** `2026-11-27 20:26:25 UTC` */
function whenText(value: unknown): string | undefined {
  const time = timeOf(value)
  return time === undefined ? undefined : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

function countsText(counts: Fields): string | undefined {
  const words = ['passed', 'blockers', 'warnings', 'infos', 'notChecked', 'accepted', 'skipped'] as const
  const named = words.flatMap((word) => {
    const many = numberOf(counts[word])
    if (many === undefined || many === 0) return []
    if (word.endsWith('s')) return [count(many, word.slice(0, -1))]
    return [`${many} ${word === 'notChecked' ? 'not checked' : word}`]
  })
  return named.join(', ') || undefined
}

/** `12 VMs, 7 on an old virt-launcher`, or the totals of a run over VMs. */
function totalsText(document: Fields): string | undefined {
  const { instances, outdated } = fieldsOf(document['workloads'])
  const all = numberOf(instances)
  if (all !== undefined) return `${count(all, 'VM')}, ${numberOf(outdated) ?? 0} on an old virt-launcher`
  const named = Object.entries(fieldsOf(document['totals'])).flatMap(([word, many]) =>
    typeof many === 'number' && many > 0 ? [`${many} ${word === 'left' ? 'not moved' : word}`] : [],
  )
  return named.join(', ') || undefined
}

/** Of a journal, or of the document of the run itself. */
const availabilityText = (measured: Fields): string | undefined =>
  textOf(fieldsOf(measured['promise'])['text']) ?? textOf(measured['text'])
