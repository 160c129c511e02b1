import { spanText } from '../../kube/duration.ts'
import { valueText } from '../../kube/text.ts'
import type { JournalRun } from '../../engine/journal-runs.ts'
import type { Entry } from '../../engine/journal.ts'
import type { Rehearsal } from '../../rehearsal/rehearsal.ts'
import type { Document } from '../printer.ts'
import { type Verdict, verdictOf } from '../formats/verdicts.ts'
import { runVerdict } from '../views/history.ts'
import { rehearsalSentence } from '../views/rehearsal.ts'
import { count } from '../text.ts'
import { type Fields, fieldsOf, listOf, numberOf, placedName, textOf, textsOf, timeOf } from './fields.ts'
import { type ReportChange, changesOf } from './report-changes.ts'
import { predictionOf, type Prediction } from './report-prediction.ts'
import { reportKinds, type ReportSource } from './report-source.ts'

/** `kvup.io/v1alpha1 Report`: what a page or a ticket says of a document. */
export interface Report extends Document {
  kind: 'Report'
  /** Kind of the document. */
  of: string
  title: string
  verdict: Verdict
  /** What has to be known before the rest is believed: that it was cut, for example. */
  remarks: readonly string[]
  /** What to type or do next. */
  next: readonly string[]
  facts: readonly { name: string; value: string }[]
  findings: readonly ReportFinding[]
  accepted: readonly ReportRisk[]
  /** Absent where nothing was predicted. */
  prediction?: Prediction
  changes: readonly ReportChange[]
  /** Whatever else the document says in sentences. */
  notes: readonly { title: string; lines: readonly string[] }[]
  /** Secrets and hosts are left out. */
  redacted: boolean
}

export interface ReportFinding {
  id: string
  level: 'blocker' | 'not-checked' | 'warning' | 'accepted' | 'info'
  summary: string
  remedy: readonly string[]
  objects: readonly string[]
  /** Of an accepted one. */
  reason?: string
}

export interface ReportRisk {
  id: string
  /** Absent: none was given. */
  reason?: string
  /** user@host, and who the API server took kvup for. Absent: the document does not say. */
  by?: string
  user?: string
}

/** Everything but the table of VMs and the timeline, which the page draws itself. Pure. */
export function reportOf(source: ReportSource, { redacted }: { redacted: boolean }): Report {
  const { document, events } = source
  const prediction = predictionOf(source)
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Report',
    of: document.kind,
    title: titleOf(document, events),
    verdict: verdictIn(source),
    remarks: remarksOf(source),
    next: nextOf(document),
    facts: factsOf(document),
    findings: findingsOf(document),
    accepted: acceptedOf(document),
    ...(prediction && { prediction }),
    changes: changesOf(source),
    notes: notesOf(document),
    redacted,
  }
}

function titleOf(document: ReportSource['document'], events: readonly Fields[]): string {
  const what = reportKinds[document.kind] ?? document.kind
  const started = events.find(({ event }) => event === 'run-started')
  if (document.kind === 'Events' || document.kind === 'Error')
    return textOf(started?.['title']) ?? textOf(started?.['procedure']) ?? what
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

/** As the terminal has it. A document that does not read as kvup writes it has no verdict, which is said. */
function verdictIn(source: ReportSource): Verdict {
  const { document } = source
  const error = fieldsOf(document['error'])
  const message = textOf(error['message'])
  const isWhole = Array.isArray(document['items']) || Array.isArray(document['steps'])
  if (document['status'] === 'failed' && message !== undefined && !isWhole)
    return { is: 'bad', text: withOutcome(firstLine(message), document) }
  try {
    const { is, text } = judged(source) ?? { is: 'warning', text: 'This document has no verdict.' }
    return { is, text: text.charAt(0).toUpperCase() + text.slice(1) }
  } catch {
    return { is: 'warning', text: 'kvup did not write this document as it is: it has no verdict.' }
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/** `Blocked: 2 blockers …`; a message that begins with the word has said it. */
function withOutcome(message: string, { outcome }: Fields): string {
  const words = {
    blocked: 'Blocked',
    stalled: 'Stalled',
    'timed-out': 'Timed out',
    interrupted: 'Interrupted',
  }
  const word = new Map(Object.entries(words)).get(textOf(outcome) ?? '') ?? 'Failed'
  if (!message.toLowerCase().startsWith(word.toLowerCase())) return `${word}: ${message}`
  return message.charAt(0).toUpperCase() + message.slice(1)
}

function judged({ document, events }: ReportSource): Verdict | undefined {
  if (document.kind === 'Rehearsal') {
    const rehearsal = { product: 'KubeVirt', ...document } as unknown as Rehearsal
    return {
      is: rehearsal.outcome === 'through' ? 'good' : 'bad',
      text: [rehearsalSentence(rehearsal), textOf(fieldsOf(document['why'])['message'])]
        .filter(Boolean)
        .join(' '),
    }
  }
  if (document.kind === 'FaultRehearsals') {
    const items = listOf(document['items'])
    const through = items.filter(({ outcome }) => outcome === 'through').length
    const alone = fieldsOf(document['without'])['outcome'] === 'through'
    const how = alone ? 'goes through without a fault' : 'does not go through, even without a fault'
    const text = `The upgrade ${how}; it goes through with ${through} of ${count(items.length, 'fault')}`
    return { is: alone ? (through === items.length ? 'good' : 'warning') : 'bad', text }
  }
  if (document.kind === 'History') {
    const [run] = listOf(document['runs'])
    return run === undefined ? undefined : runVerdict(run as unknown as JournalRun)
  }
  if (document.kind === 'Events') {
    const last = events.findLast(({ step }) => step !== undefined)
    const step = fieldsOf(last?.['step'])
    return {
      is: 'warning',
      text: `Cut off: what was kept of this run ends at ${textOf(step['title']) ?? textOf(step['id']) ?? 'its start'}`,
    }
  }
  return verdictOf(document as unknown as Document)
}

/** Journals lose entries, and runs are killed: whoever reads has to know. */
function remarksOf({ document, events }: ReportSource): readonly string[] {
  if (document.kind === 'Events')
    return [
      'The file ends before the run does: its last document is missing. Below is what was written until then. See kvup status and kvup history for the rest.',
    ]
  const isCut = events.length > 0 && !events.some(({ event }) => event === 'run-started')
  const notes = [
    ...(isCut ? ['The beginning of this run is not in the file.'] : []),
    ...(document['status'] === 'partial' ? ['This document is partial: not everything could be read.'] : []),
  ]
  return document.kind === 'History' ? [...journalRemarks(document), ...notes] : notes
}

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
    'Other users can edit the journal: do not treat it as proof.',
  ]
}

function nextOf(document: Fields): readonly string[] {
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
  const [run] = listOf(document['runs'])
  const all = { ...document, ...run }
  const { kubevirt, cluster, operator, twin, seal } = document
  const took =
    numberOf(all['tookMs']) ?? (numberOf(all['tookSeconds']) ?? numberOf(all['seconds']) ?? Number.NaN) * 1000
  const server = textOf(fieldsOf(cluster)['server'])
  const pairs: readonly (readonly [string, string | undefined])[] = [
    ['Cluster', [textOf(fieldsOf(cluster)['context']), server].filter(Boolean).join(', ') || undefined],
    ['KubeVirt', kubevirt === undefined ? undefined : placedName(fieldsOf(kubevirt))],
    ['Kubernetes', textOf(document['kubernetes'])],
    ['From', textOf(all['from']) ?? textOf(fieldsOf(kubevirt)['version'])],
    ['To', textOf(all['to'])],
    ['Method', textOf(all['method'])],
    ['Operator', operator === undefined ? undefined : operatorText(fieldsOf(operator))],
    ['Outcome', textOf(all['outcome'])],
    ['Run', textOf(all['run'])],
    [
      'By',
      textOf(run?.['by']) ?? textOf(fieldsOf(seal)['by']) ?? textOf(fieldsOf(document['comparedWith'])['by']),
    ],
    ['Started', whenText(run?.['started'])],
    ['Ended', whenText(run?.['ended'])],
    ['Took', Number.isNaN(took) ? undefined : spanText(took)],
    ['Estimate', textOf(fieldsOf(document['time'])['says'])],
    ['Made', whenText(document['takenAt'] ?? fieldsOf(seal)['at'] ?? document['asOf'])],
    ['Twin', twin === undefined ? undefined : twinText(fieldsOf(twin))],
    ['Faults', textsOf(document['faults']).join(', ') || undefined],
    ['Seed', textOf(document['seed'])],
    ['Checks', countsText(fieldsOf(document['counts']))],
    ['VMs', totalsText(document)],
    ['Availability', availabilityText(fieldsOf(document['availability'] ?? run?.['availability']))],
  ]
  return pairs.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [{ name, value }]))
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
    return many === undefined || many === 0 ? [] : [`${many} ${word === 'notChecked' ? 'not checked' : word}`]
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

const levels = ['blocker', 'not-checked', 'warning', 'accepted', 'info'] as const

function findingsOf(document: Fields): readonly ReportFinding[] {
  const isCheck = document['kind'] === 'CheckReport'
  const risks = new Map(acceptedOf(document).map((risk) => [risk.id, risk]))
  const found = isCheck
    ? listOf(document['items']).flatMap((item) =>
        listOf(item['findings']).map((finding) =>
          item['is'] === 'not-checked' ? { ...finding, level: 'not-checked' } : finding,
        ),
      )
    : listOf(document['findings'])
  return found
    .map((finding) => findingOf(finding, risks))
    .toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level))
}

function findingOf(finding: Fields, risks: ReadonlyMap<string, ReportRisk>): ReportFinding {
  const id = textOf(finding['id']) ?? ''
  const isAccepted = finding['accepted'] === true || risks.has(id)
  const reason = textOf(finding['reason']) ?? risks.get(id)?.reason
  return {
    id,
    level: isAccepted ? 'accepted' : (levels.find((level) => level === finding['level']) ?? 'info'),
    summary: textOf(finding['summary']) ?? '',
    remedy: textsOf(finding['remedy']),
    objects: textsOf(finding['objects']),
    ...(isAccepted && reason !== undefined && { reason }),
  }
}

function acceptedOf(document: Fields): readonly ReportRisk[] {
  const [run] = listOf(document['runs'])
  const ofRun = listOf(run?.['accepted']).map((risk) => ({ ...risk, by: run?.['by'] }))
  return [...listOf(document['accepted']), ...ofRun].map((risk: Fields) => {
    const [reason, by, user] = [textOf(risk['reason']), textOf(risk['by']), textOf(risk['user'])]
    return {
      id: textOf(risk['id']) ?? '',
      ...(reason !== undefined && reason !== '' && { reason }),
      ...(by !== undefined && { by }),
      ...(user !== undefined && { user }),
    }
  })
}

/** The sentences of a document, each list under what it is. */
function notesOf(document: Fields): Report['notes'] {
  const error = fieldsOf(document['error'])
  const { vms, alerts, workloads, noWayBack, degraded } = document
  const stopped = fieldsOf(document['stoppedBefore'])
  const isJournal = document['kind'] === 'History'
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [
      'What else is known',
      [...furtherLines(error), ...textsOf(error['notes']), ...textsOf(fieldsOf(document['why'])['notes'])],
    ],
    ['What is not as it should be', textsOf(degraded)],
    ['Where it stopped', stoppedText(stopped)],
    ['What it means for the cluster', [...textsOf(document['said']), ...textsOf(document['notes'])]],
    ['VMs that have a problem', troublesOf(fieldsOf(vms))],
    ['VMs now', textsOf([fieldsOf(workloads)['forecast']]).map((text) => `KubeVirt ${text}`)],
    ['New alerts', [...textsOf(fieldsOf(alerts)['new']), ...textsOf([fieldsOf(alerts)['notCompared']])]],
    ['Differences', differencesOf(fieldsOf(document['differences']))],
    ['Way back', noWayBack === undefined ? [] : [`none: ${String(textOf(noWayBack))}`]],
    [
      'Left behind',
      [
        ...listOf(document['left']).flatMap(({ what }) => textOf(what) ?? []),
        ...(isJournal ? [] : overridesOf(document)),
      ],
    ],
    ['Temporary changes that are open', isJournal ? overridesOf(document) : []],
    ['Faults', listOf(document['items']).flatMap(faultText)],
    ['Not in the twin, and so not shown', textsOf(document['missing'])],
    ['Could not be read', textsOf(document['unread'])],
    ['Not known', textsOf(document['unknown'])],
  ]
  return sections.flatMap(([title, lines]) => (lines.length === 0 ? [] : [{ title, lines }]))
}

/** What a message says below its first line. */
const furtherLines = ({ message }: Fields): readonly string[] =>
  (textOf(message) ?? '')
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '')

function stoppedText({ step, because, safeToLeave }: Fields): readonly string[] {
  if (textOf(step) === undefined) return []
  const safe = textOf(safeToLeave) === undefined ? '' : `. Safe to leave here: ${textOf(safeToLeave)}`
  return [`before ${textOf(step)}, by ${textOf(because)}${safe}`]
}

const troublesOf = (vms: Fields): readonly string[] => [
  ...listOf(vms['reasons']).map(
    ({ status, message, count: many }) =>
      `${numberOf(many) ?? 1} × ${[textOf(status), textOf(message)].filter(Boolean).join(': ')}`,
  ),
  ...[...listOf(vms['stuck']), ...listOf(vms['leftBehind'])].flatMap(
    ({ sentence }) => textOf(sentence) ?? [],
  ),
]

const differenceWords: Readonly<Record<string, string>> = {
  vanished: 'vanished',
  failed: 'failed',
  restarted: 'restarted',
  notReady: 'no longer ready',
  restartRequired: 'now need a restart',
  volumes: 'volumes',
  failedMigrations: 'migration failed',
}

/** So many names are told in a line; the JSON has all. */
const namesAtMost = 20

const differencesOf = (differences: Fields): readonly string[] =>
  Object.entries(differences).flatMap(([key, value]) => {
    const names = textsOf(value)
    const more = names.length > namesAtMost ? ` and ${names.length - namesAtMost} more` : ''
    return names.length === 0
      ? []
      : [`${differenceWords[key] ?? key}: ${names.slice(0, namesAtMost).join(', ')}${more}`]
  })

const overridesOf = (document: Fields): readonly string[] =>
  listOf(document['overrides']).map((override) => {
    const was = fieldsOf(override['was'])
    const object = fieldsOf(override['object'])
    const value = was['present'] === true ? valueText(was['value']) : 'absent'
    return `${textOf(override['id'])}: ${textOf(override['path'])} of ${textOf(object['kind'])} ${placedName(object)} (was ${value})`
  })

const faultText = (item: Fields): readonly string[] => {
  const fault = textOf(item['fault'])
  if (fault === undefined) return []
  const why = textOf(fieldsOf(item['why'])['message'])
  const left = listOf(item['left']).flatMap(({ what }) => textOf(what) ?? [])
  const ends = { through: 'goes through', stalls: 'stalls', blocked: 'is blocked' }[
    textOf(item['outcome']) ?? ''
  ]
  return [
    `${fault}: ${textOf(item['title']) ?? ''} The upgrade ${ends ?? 'ends'}${why === undefined ? '' : `: ${why}`}${left.length > 0 ? `. Left behind: ${left.join(', ')}` : ''}`,
  ]
}
