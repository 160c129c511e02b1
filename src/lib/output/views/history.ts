import { dayAndTime, spanSince, timeOfDay } from '../age.ts'
import type { ClusterAddress } from '../../kube/cluster.ts'
import { spanText } from '../../kube/duration.ts'
import type { Column, Document, Paint, Size, Tone, View } from '../printer.ts'
import { brief, displayWidth, wrap } from '../text.ts'
import { harmlessText, valueText } from '../../kube/text.ts'
import { holderText, overrideRemedy } from './report-lines.ts'
import type { ShownHolder } from '../../kubevirt/lease-holders.ts'
import type { Entry, Override } from '../../engine/journal.ts'
import type { JournalRun } from '../../engine/journal-runs.ts'
import type { OverriddenVm } from '../../vms/unblock/vm-overrides.ts'
import { rehearsalText } from './upgrade/upgrade-report.ts'
import { table } from '../table.ts'
import type { Verdict } from '../formats/verdicts.ts'

export interface HistoryDocument extends Document {
  kind: 'History'
  /** Absent of a saved cluster. */
  cluster?: ClusterAddress
  /** KubeVirt's own, where the journal is. */
  namespace: string
  /** When it was read: ages count to here. */
  asOf: string
  /** Open ones only. */
  overrides: readonly Override[]
  /** The line that restores them, where there are any. */
  restore?: string
  /** VMs that `kvup workloads unblock` changed and that were not restored yet, where there are any. */
  vms?: readonly OverriddenVm[]
  /** Who runs kvup now, where somebody does. */
  running?: ShownHolder
  /** The oldest first. */
  runs: readonly JournalRun[]
  /** What the journal says of these runs, the oldest first. */
  items: readonly Entry[]
}

interface Asked {
  /** The line that restores VMs. */
  restoresVms: string
  /** One run was asked for, and is told whole. */
  whole: boolean
  /** So many runs are shown, the newest. */
  most: number
  /** Only runs since a time were asked for. */
  isSince: boolean
}

export const historyView = (asked: Asked): View<HistoryDocument> => ({
  text: (document, paint, size) => {
    const { overrides, vms = [], asOf, running } = document
    const open = [
      ...overrides.flatMap((override) => overrideLines(override, asOf, paint)),
      ...vmLines({ vms, asOf, restoresVms: asked.restoresVms }, paint),
      ...(running ? [holderText(running, asOf)] : []),
    ].flatMap((line) => wrap(line, size.columns))
    const rest = asked.whole
      ? document.runs.flatMap((run) => wholeRun(run, document.items, { paint, size }))
      : runLines(document, asked, { paint, size })
    return [...open, ...(open.length > 0 && rest.length > 0 ? [''] : []), ...rest]
  },
  names: ({ items, overrides, runs }) => [
    ...runs.map(({ run }) => `run/${run}`),
    ...items.map(({ at, what }) => `entry/${at}-${what}`),
    ...overrides.map(({ id }) => `override/${id}`),
  ],
})

interface Style {
  paint: Paint
  size: Size
}

function overrideLines(override: Override, asOf: string, paint: Paint): string[] {
  const { object, path, was, by, at, procedure, harmless } = override
  const value = was.present ? valueText(was.value) : 'absent'
  const field = path
    .slice(path.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
  const what =
    field === 'workloadUpdateMethods'
      ? `automatic VM updates paused (was ${value})`
      : `${field} of ${object.kind} ${object.name} (was ${value}; ${words.get(procedure) ?? procedure})`
  return [
    `${paint.warn(paint.mark.warning)} Temporary change by ${by}, ${spanSince(at, asOf)} ago: ${what}`,
    ...(harmless === undefined ? [] : [`  ${harmlessText(harmless)}`]),
    `  ${paint.mark.next} ${overrideRemedy(override)}     # restores it`,
  ]
}

/** So many VMs are told; the document has all. */
const toldAtMost = 10

function vmLines(
  { vms, asOf, restoresVms }: { vms: readonly OverriddenVm[]; asOf: string; restoresVms: string },
  paint: Paint,
): string[] {
  const { mark } = paint
  if (vms.length === 0) return []
  return [
    ...vms
      .slice(0, toldAtMost)
      .map(
        ({ namespace, name, by, at, kept, copied }) =>
          `${paint.warn(mark.warning)} Temporary change: ${copied ? 'the VM that was copied to' : 'VM'} ${namespace}/${name}: ${kept.join(', ')}; changed ${spanSince(at, asOf)} ago by ${by}`,
      ),
    ...(vms.length > toldAtMost ? [`  and ${vms.length - toldAtMost} more VMs (-o json)`] : []),
    `  ${mark.next} ${restoresVms}     # restores ${vms.length === 1 ? 'it' : 'them'}`,
  ]
}

function runLines(
  { runs, asOf, namespace }: HistoryDocument,
  { most, isSince }: Asked,
  { paint, size }: Style,
): readonly string[] {
  if (runs.length === 0) {
    const none = isSince
      ? 'No run started in that time.'
      : `No run of kvup is recorded in namespace ${namespace}.`
    return wrap(none, size.columns)
  }
  const shown = runs.slice(-most).toReversed()
  const older = runs.length - shown.length
  return [
    ...runRows(shown, asOf, { paint, size }),
    ...(older === 0
      ? []
      : [
          '',
          ...wrap(
            `${older} older ${older === 1 ? 'run' : 'runs'}: kvup history --limit ${runs.length}`,
            size.columns,
          ),
        ]),
  ]
}

/** A table where all but the note stands in it uncut; else two lines for each run. */
function runRows(shown: readonly JournalRun[], asOf: string, style: Style): readonly string[] {
  const { paint, size } = style
  const columns = columnsAt(asOf, shown)
  const width = Math.max(...table(columns.slice(0, 6), shown, { wide: size.wide }).map(displayWidth))
  if (width <= size.columns) return table(columns, shown, { ...size, paint })
  return shown.flatMap((run) => runInWords(run, asOf, style))
}

function runInWords(run: JournalRun, asOf: string, { paint, size }: Style): readonly string[] {
  const { run: number, result, by, started } = run
  const { word, tone } = results[result]
  const note = noteOf(run)
  return [
    `${paint.strong(`${number}   ${whatText(run)}`)}: ${tone ? paint[tone](word) : word}, ${tookText(run)}`,
    `    ${dayAndTime(started, asOf)} by ${by}`,
    ...(note === undefined ? [] : [`    ${note}`]),
  ].flatMap((line) => wrap(line, size.columns))
}

const columnsAt = (asOf: string, shown: readonly JournalRun[]): readonly Column<JournalRun>[] => [
  { name: 'RUN', cell: ({ run }) => run },
  { name: 'STARTED', cell: ({ started }) => dayAndTime(started, asOf) },
  { name: 'BY', cell: ({ by }) => by },
  { name: 'WHAT', cell: whatText },
  { name: 'RESULT', cell: ({ result }) => results[result].word, tone: ({ result }) => results[result].tone },
  { name: 'TOOK', cell: tookText },
  ...(shown.some((run) => noteOf(run) !== undefined)
    ? [{ name: 'NOTE', holds: 'text', cell: noteOf } as const]
    : []),
]

const results: Readonly<Record<JournalRun['result'], { word: string; tone?: Tone }>> = {
  done: { word: 'done', tone: 'good' },
  incomplete: { word: 'incomplete', tone: 'bad' },
  stopped: { word: 'stopped', tone: 'warn' },
  'awaits-approval': { word: 'waits for approval', tone: 'warn' },
  interrupted: { word: 'interrupted', tone: 'warn' },
  failed: { word: 'failed', tone: 'bad' },
  running: { word: 'running' },
  'cut-off': { word: 'cut off', tone: 'warn' },
}

const tookText = ({ tookMs }: JournalRun): string => (tookMs === undefined ? '-' : spanText(tookMs))

/** Procedures keep the names by which runs find each other; a person reads what is done. */
const words: ReadonlyMap<string, string> = new Map([
  ['restore workload updates', 'resume automatic VM updates'],
  ['update workloads', 'update VMs'],
  ['watch workload updates', 'watch automatic VM updates'],
])

/** `upgrade v1.7.4 → v1.8.4`; without versions what the journal calls it. */
function whatText({ procedure, from, to }: JournalRun): string {
  const window = /^(?:(?<of>abort|restore) )?eus to (?<minor>\S+)$/u.exec(procedure)?.groups
  if (window?.['of'] !== undefined) return `${window['of']} of the EUS upgrade to ${window['minor']}`
  const name = window ? 'EUS upgrade' : /^(?<name>upgrade.*) to \S+$/u.exec(procedure)?.groups?.['name']
  const goal = to ?? window?.['minor']
  if (name === undefined || goal === undefined) return words.get(procedure) ?? procedure
  return from === undefined || from === goal ? `${name} to ${goal}` : `${name} ${from} → ${goal}`
}

function noteOf(run: JournalRun): string | undefined {
  const notes = [
    ...run.accepted.map(riskText),
    ...(run.continues === undefined ? [] : [`continued run ${run.continues}`]),
    ...endNotes(run),
  ]
  return notes.length === 0 ? undefined : notes.map(brief).join('; ')
}

function endNotes({ result, step, reason }: JournalRun): readonly string[] {
  if (result === 'done') return []
  const at =
    step === undefined ? '' : result === 'running' ? `now at ${step}` : `${placed[result] ?? 'at'} ${step}`
  const why = result === 'failed' || result === 'incomplete' ? (reason ?? '') : ''
  const text = [at, why].filter((part) => part !== '').join(': ')
  return text === '' ? [] : [text]
}

const placed: Readonly<Partial<Record<JournalRun['result'], string>>> = {
  stopped: 'before',
  'awaits-approval': 'before',
  'cut-off': 'after',
}

const riskText = ({ id, reason }: JournalRun['accepted'][number]): string =>
  `accepted ${id}${reason === undefined ? '' : ` ("${reason}")`}`

/** `Run 1: upgrade v1.7.4 → v1.8.4: done in 2 m 34 s`, and how bad that is. */
export function runVerdict(run: JournalRun): Verdict {
  const { word, tone = 'good' } = results[run.result] ?? results['cut-off']
  const took =
    run.tookMs === undefined ? '' : ` ${run.result === 'done' ? 'in' : 'after'} ${spanText(run.tookMs)}`
  const why = [...endNotes({ ...run, reason: '' }), ...(run.reason === undefined ? [] : [run.reason])].join(
    ': ',
  )
  return {
    is: tone === 'bad' ? 'bad' : tone === 'warn' ? 'warning' : 'good',
    text: `Run ${run.run}: ${whatText(run)}: ${word}${took}${why === '' ? '' : `, ${why}`}`,
  }
}

/** The journal of one run in words. */
function wholeRun(run: JournalRun, entries: readonly Entry[], { paint, size }: Style): string[] {
  const { word, tone } = results[run.result]
  const plan = entries.find((entry) => entry.plan !== undefined)?.plan
  const took = run.tookMs === undefined ? '' : `, ${spanText(run.tookMs)}`
  const ending = [...endNotes({ ...run, reason: '' }), ...(run.reason === undefined ? [] : [run.reason])]
  const finished = finishedText(run, entries)
  return [
    `${paint.strong(`Run ${run.run}: ${whatText(run)}`)}: ${tone ? paint[tone](word) : word}${took}`,
    `  started    ${run.started} by ${run.by}`,
    ...(run.ended === undefined ? [] : [`  ended      ${run.ended}`]),
    ...(run.continues === undefined ? [] : [`  continued  run ${run.continues}`]),
    ...(run.continuedBy === undefined ? [] : [`  continued  by run ${run.continuedBy}`]),
    ...(finished === undefined ? [] : [`  result     ${finished}`]),
    ...(ending.length === 0 ? [] : [`  result     ${ending.join(': ')}`]),
    ...run.accepted.map(
      ({ id, reason, user }) =>
        `  accepted   ${id} by ${user === undefined ? 'an unknown API user' : `API user ${user}`}: ${reason ?? 'no reason given'}`,
    ),
    ...(plan === undefined ? [] : [`  plan       ${plan}`]),
    ...findingsLines(run),
    ...(run.rehearsal === undefined ? [] : rehearsedLines(run.rehearsal, run)),
    ...(run.availability === undefined ? [] : measuredLines(run.availability)),
  ]
    .flatMap((line) => wrap(line, size.columns))
    .concat(stepLines(run, entries, { paint, size }))
}

/** Those that were accepted have a line of their own. */
function findingsLines({ findings = [], accepted }: JournalRun): readonly string[] {
  const others = findings.filter((id) => accepted.every((risk) => risk.id !== id))
  return others.length === 0 ? [] : [`  findings   ${others.map(brief).join(', ')}`]
}

function rehearsedLines(
  rehearsal: NonNullable<JournalRun['rehearsal']>,
  { result }: Pick<JournalRun, 'result'>,
): readonly string[] {
  const { head, others } = rehearsalText(rehearsal, result === 'done')
  return [`  rehearsal  ${head}`, ...others.map((line) => `             ${brief(line)}`)]
}

/** What was measured beside it, with the longest outages of the API. */
function measuredLines({ text, outages }: NonNullable<JournalRun['availability']>): readonly string[] {
  return [
    `  measured   ${brief(text)}`,
    ...outages.slice(0, outagesToldAtMost).map(({ begin, end, rolling = [] }) => {
      const until = end === undefined ? 'and still at the end' : `to ${timeOfDay(end)}`
      const meanwhile = rolling.length === 0 ? '' : `, while ${rolling.map(brief).join(', ')} rolled`
      return `             API unavailable ${timeOfDay(begin)} ${until}${meanwhile}`
    }),
  ]
}

const outagesToldAtMost = 3

/** Of a run that found every change made: it ended what another had begun. */
function finishedText({ continues, result }: JournalRun, entries: readonly Entry[]): string | undefined {
  const isUnchanged = entries.some(({ what, text }) => what === 'finished' && text === nothingChanged)
  if (continues === undefined || result !== 'done' || !isUnchanged) return undefined
  return `finished run ${continues}: nothing was left to change`
}

/** What the journal says of a run that changed nothing. */
const nothingChanged = 'nothing to change'

interface Told {
  at: string
  step: string
  text: string
  tone?: Tone
}

function stepLines(run: JournalRun, entries: readonly Entry[], { paint, size }: Style): string[] {
  const finished = finishedText(run, entries)
  const rows = entries.flatMap((entry, index) =>
    entry.what === 'finished' && finished !== undefined
      ? [{ at: entry.at, step: '-', text: `done: ${finished}` }]
      : told(entry, entries.slice(index + 1), entries),
  )
  return rows.length === 0 ? [] : ['', ...table(stepColumns, rows, { ...size, paint })]
}

const stepColumns: readonly Column<Told>[] = [
  { name: 'TIME', cell: ({ at }) => timeOfDay(at) },
  { name: 'STEP', cell: ({ step }) => step },
  { name: 'WHAT', holds: 'text', cell: ({ text }) => brief(text), tone: ({ tone }) => tone },
]

/** An intent is told with the change that it became; start, end and risks stand above. */
function told(
  { at, step, what, text }: Entry,
  later: readonly Entry[],
  all: readonly Entry[],
): readonly Told[] {
  const isEnd = what === 'finished' || what === 'interrupted' || (what === 'failed' && later.length === 0)
  if (what === 'started' || what === 'accepted') return []
  if (isEnd) return what === 'finished' ? [{ at, step: '-', text: endText(text) }] : []
  if (what === 'intends') {
    const became = later.find((one) => one.step === step && ['applied', 'failed'].includes(one.what))
    return became ? [] : [{ at, step, text: `${text} (not known whether it was done)`, tone: 'warn' }]
  }
  if (what === 'applied') return [{ at, step, text: `${text}${tookSince(step, at, all)}` }]
  if (what === 'failed') return [{ at, step, text: `refused: ${text}`, tone: 'bad' }]
  return [{ at, step, text: `${settings[what]} ${settingText(text)}` }]
}

const endText = (text: string): string =>
  text.startsWith('incomplete: ') ? text : `done: ${text.replace(/^changed: /u, 'changed ')}`

/** `workloadUpdateMethods of KubeVirt kubevirt was ["LiveMigrate"]`: without the whole path. */
const settingText = (text: string): string =>
  text.replace(
    /(?<=^|: )\/\S*\/(\S+) of (.+), which was /u,
    (_, field: string, object: string) => `${field.replaceAll('~1', '/')} of ${object} was `,
  )

const settings = {
  saved: 'old value saved:',
  restored: 'restored:',
  closed: 'not restored:',
} as const

function tookSince(step: string, at: string, entries: readonly Entry[]): string {
  const intent = entries.findLast((one) => one.what === 'intends' && one.step === step && one.at <= at)
  const ms = intent === undefined ? Number.NaN : Date.parse(at) - Date.parse(intent.at)
  return ms >= 1000 ? ` (${spanText(ms)})` : ''
}
