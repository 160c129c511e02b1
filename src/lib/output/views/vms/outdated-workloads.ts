import type { OutdatedDocument, OutdatedItem } from '../../../vms/outdated-vms.ts'
import { ageAt, spanSince } from '../../age.ts'
import { noMethodsText } from '../../kvup-words.ts'
import type { Column, Paint, RowsView, Size, Tone } from '../../printer.ts'
import { table } from '../../table.ts'
import { count, wrap } from '../../text.ts'
import { toType } from '../../terminal.ts'
import { selectionText, unreadLines } from '../report-lines.ts'
import type { VmOutcome } from '../../../vms/workload-updater.ts'

/** All that a table shows, which begins with the verdict. */
type WholeDocument = OutdatedDocument & { items: readonly OutdatedItem[] }

/** Ages count to `now`, the time at which a row is told. `vms`: how many VMs there are in all, once that is known. */
export function outdatedView(
  now: () => Date,
  vms: () => number | undefined = () => undefined,
): RowsView<OutdatedItem, OutdatedDocument> {
  return {
    columns: columnsAt(now),
    whole: (document, paint, size) => wholeLines(document, { now, vms: vms() }, { paint, size }),
    name: ({ name }) => `virtualmachineinstance.kubevirt.io/${name}`,
    below: (document, paint, { columns }) =>
      [...outdatedRemarks(document, paint), summary(document, paint)].flatMap((line) => wrap(line, columns)),
  }
}

interface Around {
  now: () => Date
  vms: number | undefined
}

interface Shown {
  paint: Paint
  size: Size
}

/** So many lines are read at one look where nobody knows how tall the page is. */
const fewLines = 20

/** The verdict, why, the rows, and last what to type. */
function wholeLines(
  document: WholeDocument,
  { now, vms }: Around,
  { paint, size }: Shown,
): readonly string[] {
  const { items, next } = document
  const rows = items.length > 0 ? table(tableColumns(now, isBusy(document)), items, { ...size, paint }) : []
  if (size.headers === false) return rows
  const verdict = paint.strong(verdictText(document, vms))
  const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
  const head = [verdict, ...offLines(document), ...outdatedRemarks(document, paint)]
  const top = fitted(head)
  // A table that has scrolled the verdict away has it below as well; the prompt takes a line of the terminal.
  const isTall = top.length + rows.length + 4 > (size.rows ?? fewLines)
  const end = [...(isTall ? [verdict] : []), ...(next === undefined ? [] : [toType('Next:', next)])]
  return [
    ...top,
    ...(rows.length > 0 ? ['', ...rows] : []),
    ...(end.length > 0 && rows.length > 0 ? [''] : []),
    ...fitted(end),
  ]
}

/** What a person asks first: how many, and what becomes of them. */
export function verdictText(document: WholeDocument, vms?: number): string {
  const { totals, selection, updating, items } = document
  const { total, byOutcome } = totals
  const where = selectionText(selection)
  if (total === 0) return `${updating ? 'no VM is labelled outdated yet' : 'no outdated VMs'}${where}`
  const byKvup = isBusy(document) ? 0 : items.filter(kvupMoves).length
  const owners = items.filter(needsOwner).length
  const stays = byOutcome.stays - byKvup - owners
  const how = [
    ...(byKvup === 0 ? [] : [`kvup can move ${movable(byKvup, total)} now`]),
    ...said(
      owners,
      owners === 1 ? 'cannot migrate and needs its owner' : 'cannot migrate and need their owners',
    ),
  ]
  const outcomes = outcomesText(outcomeTexts, { ...byOutcome, stays })
  const all = [...(outcomes === '' ? [] : [outcomes]), ...how].join(', ') || 'their outcome is unknown'
  const isPart = vms !== undefined && vms > total
  const of = isPart ? `${total} of ${count(vms, 'VM')}` : count(total, 'VM')
  return `${of}${where} ${total === 1 ? 'runs' : 'run'} an old virt-launcher: ${all}`
}

/** Once for all rows; while kvup has paused the updates a remark says so. */
const offLines = ({ items, paused }: WholeDocument): readonly string[] =>
  paused === undefined && items.some(({ why }) => why[0]?.id === 'no-methods')
    ? [`${noMethodsText(false)}: KubeVirt moves none of them`]
    : []

function movable(some: number, total: number): string {
  if (some < total) return `${some} of them`
  return total === 1 ? 'it' : 'all of them'
}

/** An update of KubeVirt or another kvup is under way: kvup moves no VM now, and the next line only shows how far that is. */
const isBusy = ({ updating, next = '' }: OutdatedDocument): boolean =>
  updating || next.startsWith('kvup workloads migrations')

/** KubeVirt does not move it, and `kvup workloads update` would. */
const kvupMoves = ({ outcome, remedy, migratable }: OutdatedItem): boolean =>
  outcome === 'stays' &&
  migratable.status === 'True' &&
  remedy.some((line) => line.startsWith('kvup workloads update'))

/** Only a restart gives it the new virt-launcher. */
const needsOwner = ({ outcome, migratable }: OutdatedItem): boolean =>
  outcome === 'stays' && migratable.status === 'False'

function tableColumns(now: () => Date, busy: boolean): readonly Column<OutdatedItem>[] {
  const cells: Readonly<Record<string, Column<OutdatedItem>['cell']>> = {
    OUTCOME: (item) => (kvupMoves(item) && !busy ? 'kvup can move it' : outcomeText(item)),
    WHY: whyText,
  }
  return columnsAt(now).map((column) =>
    Object.assign({}, column, { cell: cells[column.name] ?? column.cell }),
  )
}

const outcomeText = ({ outcome }: OutdatedItem): string => (outcome ? outcomeTexts[outcome].one : 'unknown')

/** Without what the line above the table says of all of them. */
function whyText(item: OutdatedItem): string {
  const [first, ...more] = item.why
  if (first === undefined) return ''
  const held = commonReasons[first.id]
  if (held === undefined) return item.why.map(({ text }) => text).join('; ')
  const own = kvupMoves(item) ? [] : [first.text.replace(`${held}; `, '')]
  return [...own, ...more.map(({ text }) => text)].join('; ')
}

/** Reasons that are the cluster's, and the same for each VM that KubeVirt does not move. */
const commonReasons: Readonly<Record<string, string>> = {
  'no-methods': noMethodsText(false),
  paused: noMethodsText(true),
}

function columnsAt(now: () => Date): readonly Column<OutdatedItem>[] {
  return [
    { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
    { name: 'NAME', cell: ({ name }) => name },
    { name: 'NODE', cell: ({ node }) => node },
    { name: 'LAUNCHER', cell: ({ launcher }) => launcherText(launcher), tone: toneOfLauncher },
    { name: 'AGE', cell: ({ since }) => ageAt(since, now()) },
    {
      name: 'OUTCOME',
      cell: outcomeText,
      tone: toneOf,
    },
    { name: 'MIGRATABLE', holds: 'text', cell: ({ migratable }) => migratableText(migratable), wide: true },
    {
      name: 'EVICTION',
      holds: 'text',
      cell: ({ evictionStrategy: { value, from } }) => value && `${value} (${from})`,
      wide: true,
    },
    { name: 'WHY', holds: 'text', cell: ({ why }) => why.map(({ text }) => text).join('; ') },
    { name: 'HELPS', holds: 'command', cell: ({ remedy }) => remedy.join(' && '), wide: true },
  ]
}

const toneOf = ({ outcome }: OutdatedItem): Tone | undefined => outcome && outcomeTexts[outcome].tone
const toneOfLauncher = ({ launcher }: OutdatedItem): Tone | undefined => (launcher.old ? 'warn' : undefined)

/** A digest is told by its first digits. */
function launcherText({ version, image }: OutdatedItem['launcher']): string | undefined {
  return version ?? image?.replace(/^.*[/]/u, '').replace(/^[^@]*@(?<digest>sha256:\w{12}).*$/u, '$<digest>')
}

function migratableText({ status, reason }: OutdatedItem['migratable']): string {
  return reason === undefined ? status : `${status} (${reason})`
}

function summary({ totals, selection, updating, next }: OutdatedDocument, paint: Paint): string {
  const { total, byOutcome } = totals
  const then = next === undefined ? '' : ` ${paint.mark.next} ${next}`
  if (total === 0)
    return `${updating ? 'no VM is labelled outdated yet' : 'no outdated VMs'}${selectionText(selection)}${then}`
  const how = outcomesText(outcomeTexts, byOutcome) || 'their outcome is unknown'
  return `${paint.strong(`${total} outdated`)}${selectionText(selection)}: ${how}${then}`
}

/** What has to be known besides the rows, a line each. */
function outdatedRemarks(document: OutdatedDocument, paint: Paint): readonly string[] {
  const { remarks, unread, totals } = document
  const warn = (text: string) => paint.warn(`${paint.mark.warning} ${text}`)
  return [
    ...unreadLines(unread, paint),
    ...remarks.map(warn),
    ...(document.updating ? [warn('KubeVirt is being updated: it finds and moves more VMs after that')] : []),
    ...(totals.old > 0 ? [warn(`${count(totals.old, 'VM')} on a virt-launcher more than a year old`)] : []),
    ...heldLines(document),
    ...countLines(document),
    ...alertLines(document),
  ]
}

function heldLines({ paused, asOf }: OutdatedDocument): readonly string[] {
  if (paused === undefined) return []
  return [
    `automatic VM updates are paused by ${paused.by} for ${spanSince(paused.at, asOf)}: KubeVirt moves nothing`,
  ]
}

/** Why KubeVirt's own count is another number (facts 3.2). */
function countLines({ count: apart }: OutdatedDocument): readonly string[] {
  if (apart === undefined || apart.stale || apart.reported === apart.labelled) return []
  if (apart.reported === undefined) return ['KubeVirt has not counted its outdated VMs yet']
  const { hotplug, volumes, unlabelled, notRunning, unexplained } = apart
  const why = [
    ...said(hotplug, 'wait for a hotplug, which needs a migration'),
    ...said(volumes, 'wait for a migration of volumes'),
    ...said(unlabelled, 'not labelled yet'),
    ...said(notRunning, 'labelled, but not running'),
    ...(unexplained === 0 ? [] : ['KubeVirt updates its count every few seconds']),
  ]
  return [`KubeVirt counts ${apart.reported}, ${apart.labelled} are labelled: ${why.join('; ')}`]
}

const said = (n: number, what: string): readonly string[] => (n === 0 ? [] : [`${n} ${what}`])

function alertLines({ alert, asOf }: OutdatedDocument): readonly string[] {
  if (alert === undefined) return []
  const { name, firesFrom, expected } = alert
  const fires =
    firesFrom === undefined
      ? 'fires after they are outdated for 24 h'
      : firesFrom <= asOf
        ? 'is firing: they have been outdated for 24 h'
        : `fires at ${firesFrom.replace(/\.\d+Z$/u, 'Z')} at the earliest`
  return [
    `alert ${name} ${fires}${expected ? '; this is expected while automatic VM updates are paused' : ''}`,
  ]
}

/** How a person says it. */
export interface Said {
  /** `1 migrates` */
  one: string
  /** `2 migrate` */
  many: string
  tone: Tone
}

/** Each outcome as a person says it. */
export const outcomeTexts: Readonly<Record<VmOutcome, Said>> = {
  migrates: { one: 'migrates', many: 'migrate', tone: 'good' },
  restarts: { one: 'restarts', many: 'restart', tone: 'warn' },
  'shuts down': { one: 'shuts down', many: 'shut down', tone: 'bad' },
  'is lost': { one: 'is lost', many: 'are lost', tone: 'bad' },
  restart: { one: 'needs a restart', many: 'need a restart', tone: 'bad' },
  stays: { one: 'not moved', many: 'not moved', tone: 'warn' },
}

/** `3 migrate, 1 restarts`; what is none is left out. */
export function outcomesText<F extends string>(
  words: Readonly<Record<F, Said>>,
  counts: Readonly<Partial<Record<F, number>>>,
): string {
  return (Object.keys(words) as F[])
    .filter((outcome) => (counts[outcome] ?? 0) > 0)
    .map(
      (outcome) => `${counts[outcome]} ${counts[outcome] === 1 ? words[outcome].one : words[outcome].many}`,
    )
    .join(', ')
}
