import type { OutdatedDocument, OutdatedItem } from '../../../vms/outdated-vms.ts'
import { ageAt, spanSince } from '../../age.ts'
import type { Column, Paint, RowsView, Tone } from '../../printer.ts'
import { count, wrap } from '../../text.ts'
import { selectionText, unreadLines } from '../report-lines.ts'
import type { VmOutcome } from '../../../vms/workload-updater.ts'

/** Ages count to `now`, the time at which a row is told. */
export function outdatedView(now: () => Date): RowsView<OutdatedItem, OutdatedDocument> {
  return {
    columns: columnsAt(now),
    name: ({ name }) => `virtualmachineinstance.kubevirt.io/${name}`,
    below: (document, paint, { columns }) =>
      [...outdatedRemarks(document, paint), summary(document, paint)].flatMap((line) => wrap(line, columns)),
  }
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
      cell: ({ outcome }) => (outcome ? outcomeTexts[outcome].one : 'unknown'),
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
