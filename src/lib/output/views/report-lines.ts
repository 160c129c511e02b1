import type { Change, Differences } from '../../vms/census/vm-census.ts'
import type { Compared, ComparedWith } from '../../vms/census/run-census.ts'
import type { Paint } from '../printer.ts'
import type { NewAlerts } from '../../openshift/firing-alerts.ts'
import type { VmReason, VmTroubles } from '../../kubevirt/diagnosis/vm-troubles.ts'
import { brief, count as counted } from '../text.ts'
import type { TakenRisk } from '../../engine/journal-runs.ts'
import type { Override } from '../../engine/journal.ts'
import { isOfWindow, restoringByName, restoringLine, upgradeTarget } from '../../engine/overrides.ts'
import { spanSince } from '../age.ts'
import type { Entry } from './status.ts'
import type { ShownHolder } from '../../kubevirt/lease-holders.ts'
import { harmlessText, someOf } from '../../kube/text.ts'

/** What a report holds of a comparison. */
interface Told {
  comparedWith?: ComparedWith
  changes?: readonly Change[]
  counts?: Compared['counts']
  differences?: Differences
  unread?: readonly string[]
}

/** Who took which risk, and why: `accepted        downgrade, by jane@bastion (API user jane): tested on stage`. */
export const takenLines = (accepted: readonly TakenRisk[] = []): readonly string[] =>
  accepted.map(({ id, reason, by, user }) => {
    const who = `by ${by} (${user === undefined ? 'user unknown' : `API user ${user}`})`
    return `accepted        ${id}, ${who}: ${reason === undefined || reason === '' ? 'no reason given' : reason}`
  })

/** What became of VMs and volumes: losses first, then what needs a look, then what owners did. That nothing did is said as well. */
export function changeLines(told: Told, paint: Paint): readonly string[] {
  const { comparedWith } = told
  if (comparedWith === undefined) return blindLines(told, paint)
  const found = foundRows(told, paint)
  const isBlind = blindLines(told, paint).length > 0
  const what = isBlind ? 'everything that kvup could compare is unchanged' : 'VMs and volumes are unchanged'
  return [
    ...sinceLines(comparedWith, paint),
    ...(found.length > 0 ? found : [comparedWith.late ? `${what} then` : what]),
    ...blindLines(told, paint),
  ]
}

/** The same where nothing is said of what is as it was. */
export function changeRows(told: Told, paint: Paint): readonly string[] {
  const { comparedWith } = told
  if (comparedWith === undefined) return blindLines(told, paint)
  const found = foundRows(told, paint)
  return [
    ...(found.length > 0 || comparedWith.late ? sinceLines(comparedWith, paint) : []),
    ...found,
    ...blindLines(told, paint),
  ]
}

function blindLines({ unread = [] }: Told, paint: Paint): readonly string[] {
  return unread.length === 0
    ? []
    : [`${paint.warn(paint.mark.warning)} not checked, because kvup could not read: ${unread.join(', ')}`]
}

function foundRows(told: Told, paint: Paint): readonly string[] {
  const { changes = [], differences } = told
  const { mark } = paint
  const lost = changes.filter((change) => change.lost)
  const rest = changes.filter((change) => !change.lost)
  return [
    ...grouped(lost).map((line) => `${paint.bad(mark.failed)} lost: ${line}`),
    ...(differences ? otherRows(differences) : []).map((line) => `${paint.bad(mark.failed)} ${line}`),
    ...grouped(rest).map((line) => `${mark.dot} ${line}`),
    ...countLines(told, paint),
  ]
}

function sinceLines({ at, by, resumed, late }: ComparedWith, paint: Paint): readonly string[] {
  if (late)
    return [
      `${paint.warn(paint.mark.warning)} kvup does not know what ran before the first change: compared with ${at}, when ${by} went on`,
    ]
  return resumed ? [`Compared with ${at}, when ${by} began`] : []
}

/** One line for those to whom the same happened for the same reason. */
function grouped(changes: readonly Change[]): readonly string[] {
  const groups = new Map<string, { what: string; why: string; names: string[] }>()
  for (const { kind, namespace, name, what, why } of changes) {
    const group = groups.get(`${what} ${why}`) ?? { what, why, names: [] }
    group.names.push(`${words[kind]}${namespace}/${name}`)
    groups.set(`${what} ${why}`, group)
  }
  return [...groups.values()].map(({ what, why, names }) => `${what}: ${upToTwenty(names)} (${why})`)
}

const words: Readonly<Record<Change['kind'], string>> = {
  VirtualMachine: '',
  VirtualMachineInstance: '',
  PersistentVolumeClaim: 'claim ',
  DataVolume: 'DataVolume ',
}

/** What is no loss and has to be looked at. Volumes that are gone or other ones stand among the changes. */
function otherRows(differences: Differences): readonly string[] {
  const { notReady, restartRequired, failedMigrations, volumes } = differences
  const inOtherPhase = volumes.filter((line) => !/ (?:vanished|was created again)$/u.test(line))
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['no longer ready', notReady],
    ['now need a restart (RestartRequired)', restartRequired],
    ['migration failed', failedMigrations],
    ['volumes', inOtherPhase],
  ]
  return rows.flatMap(([what, names]) => (names.length === 0 ? [] : [`${what}: ${upToTwenty(names)}`]))
}

function countLines({ counts }: Told, paint: Paint): readonly string[] {
  if (counts === undefined) return []
  const fewer = counts.map(
    ({ namespace, before, now }) =>
      `${paint.warn(paint.mark.warning)} namespace ${namespace}: ${before} VMs ran before, ${now} run now; names unknown`,
  )
  return fewer.length > 0 ? fewer : ['each namespace runs as many VMs as before; names unknown']
}

/** Alerts that fire since; none where nobody asked. */
export function alertLines({ alerts }: { alerts?: NewAlerts }, { mark }: Paint): readonly string[] {
  if (alerts === undefined) return []
  if ('notCompared' in alerts) return unseenAlerts(alerts.notCompared, mark)
  if (alerts.new.length === 0) return ['no new alert is firing']
  return [`${mark.warning} new alerts: ${upToTwenty(alerts.new)}`]
}

/** A command in a sentence cannot be pasted: it stands alone. */
function unseenAlerts(why: string, { next }: Paint['mark']): readonly string[] {
  const { said = why, command } = /^(?<said>.*); (?<command>oc .*) shows them$/u.exec(why)?.groups ?? {}
  return [
    `Alerts not compared: ${said}`,
    ...(command === undefined ? [] : [`  ${next} ${command}     # shows them`]),
  ]
}

/** `2 of 200 VMs that should run have a problem`, and below it each reason; then what is wrong with migrations. Nothing where nothing is. */
export function vmTroubleLines(vms: VmTroubles): readonly string[] {
  return [...idleLines(vms), ...moveProblems(vms).map(({ sentence }) => sentence)]
}

function idleLines({ count, shouldRun, reasons, partly }: VmTroubles): readonly string[] {
  if (count === 0) return []
  const of = shouldRun === undefined ? counted(count, 'VM') : `${count} of ${counted(shouldRun, 'VM')}`
  const left = count - reasons.reduce((sum, reason) => sum + reason.count, 0)
  return [
    `${of} that should run ${count === 1 ? 'is' : 'are'} not running as ${count === 1 ? 'it' : 'they'} should${partly === undefined ? '' : ` (${partly})`}`,
    ...reasons.map(reasonText),
    ...(left > 0 ? [`${left} for other reasons`] : []),
  ]
}

interface MoveProblem {
  sentence: string
  remedy: readonly string[]
}

/** Migrations that do not get on, and marks of drains that are over: a sentence each, with the VM. */
function moveProblems({ stuck = [], stuckUnknown, leftBehind = [] }: VmTroubles): readonly MoveProblem[] {
  return [
    ...leftBehind.map(({ namespace, vm, sentence, remedy }) => ({
      sentence: brief(`${namespace}/${vm} is ${sentence}`),
      remedy,
    })),
    ...stuck.map(({ namespace, vm, sentence, remedy }) => ({
      sentence: brief(`the migration of ${namespace}/${vm} is stuck: ${sentence}`),
      remedy,
    })),
    ...(stuckUnknown === undefined
      ? []
      : [{ sentence: brief(`kvup does not know which migrations are stuck: ${stuckUnknown}`), remedy: [] }]),
  ]
}

/** The same as `vmTroubleLines` behind a sign, each problem with what helps, the first commands alone. */
export function signedTroubles(vms: VmTroubles | undefined, sign: string, next = ''): readonly string[] {
  if (vms === undefined) return []
  const remedies = (lines: readonly string[]) =>
    next === '' ? [] : lines.slice(0, 2).map((line) => `  ${next} ${line}`)
  const [first, ...others] = idleLines(vms)
  const told = vms.reasons.filter(({ mostOf }) => mostOf === undefined).flatMap(({ remedy = [] }) => remedy)
  return [
    ...(first === undefined ? [] : [`${sign} ${first}`, ...others.map((line) => `  ${line}`)]),
    ...remedies(told),
    ...moveProblems(vms).flatMap(({ sentence, remedy }) => [`${sign} ${sentence}`].concat(remedies(remedy))),
  ]
}

function reasonText({ count, status, message, examples, cause }: VmReason): string {
  const more = count > examples.length ? ' …' : ''
  const text = cause ?? message
  const said = text === '' ? '' : `: ${brief(text)}`
  return `${count} ${status}${said} (${examples.map(brief).join(', ')}${more})`
}

/** For one line: the first twenty, and how many more. */
export const upToTwenty = (names: readonly string[]): string =>
  names.length > 20 ? `${names.slice(0, 20).join(', ')} and ${names.length - 20} more` : names.join(', ')

/** A warning for each part that may not be read: nothing is said of it. */
export const unreadLines = (
  unread: readonly { namespace?: string; what: string; why: string }[],
  paint: Paint,
): readonly string[] =>
  unread.map(({ namespace, what, why }) =>
    paint.warn(`${paint.mark.warning} ${what}${selectionText({ namespace })} may not be read: ${why}`),
  )

/** ` in namespace demo on node worker-1 with app=web`: what was asked for, behind a number; empty for the whole cluster. */
export function selectionText({ namespace, node, labels }: Selection): string {
  return [
    ...(namespace === undefined ? [] : [` in namespace ${namespace}`]),
    ...(node === undefined ? [] : [` on node ${node}`]),
    ...(labels === undefined ? [] : [` with ${labels}`]),
  ].join('')
}

type Selection = Partial<Record<'namespace' | 'node' | 'labels', string | undefined>>

interface LineStyle {
  paint: Paint
  entry: Entry
  /** RFC 3339: ages count to here. */
  takenAt: string
}

/** A line per override, and below them each command once. What a window borrowed goes back with it. */
export function overriddenLines(overrides: readonly Override[], style: LineStyle): string[] {
  const [ofWindow, others] = [
    overrides.filter(isOfWindow),
    overrides.filter((override) => !isOfWindow(override)),
  ]
  return [
    ...others.flatMap((override) => overrideLine(override, style)),
    ...[...new Set(others.map(overrideRemedy))].flatMap((line) => next(`${line}     # restores it`, style)),
    ...ofWindow.flatMap((override) => overrideLine(override, style)),
    ...(ofWindow.length === 0 ? [] : windowPaths.flatMap((line) => next(line, style))),
    ...(overrides.length === 0 ? [] : next('kvup history     # shows it', style)),
  ]
}

const windowPaths = [
  'kvup eus status     # shows their EUS upgrade',
  'kvup eus abort     # ends the EUS upgrade, and restores its changes',
]

const next = (line: string, { paint, entry }: LineStyle): string[] =>
  entry('', paint.dim(`${paint.mark.next} ${line}`))

function overrideLine(override: Override, { takenAt, paint, entry }: LineStyle): string[] {
  const value = override.was.present ? JSON.stringify(override.was.value) : 'absent'
  const harmless = override.harmless ? `; ${harmlessText(override.harmless)}` : ''
  return entry(
    'temporary',
    paint.warn(
      `${nameOf(override)}, was ${value}, by ${override.by}, ${spanSince(override.at, takenAt)} ago${harmless}`,
    ),
  )
}

/** Of pools and health checks there are several. */
function nameOf({ path, procedure, object }: Override): string {
  const field = path
    .slice(path.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
  const isOne = !isOfWindow({ procedure }) || settings.has(object.kind)
  return isOne ? field : `${field} of ${object.kind} ${object.name}`
}

const settings = new Set(['KubeVirt', 'HyperConverged'])

/**
 * The command that gives an override back: an imageTag that was taken out is put in by the upgrade itself, what a window borrowed by the window's own commands, the methods
 * by theirs. Pools, whose nodes roll then, and what was asked of the platform go back with the end of the window.
 */
export function overrideRemedy(override: Pick<Override, 'id' | 'path' | 'procedure'>): string {
  const { id, path } = override
  if (isOfWindow(override)) return withTheWindow.test(id) ? 'kvup eus abort' : restoringByName(id)
  const target = upgradeTarget(override.procedure)
  if (path === '/spec/imageTag' && target !== undefined) return `kvup upgrade --to ${target}`
  return restoringLine(id)
}

const withTheWindow = /^(?:pool-paused\/|platform-channel$|desired-update$)/u

/** `jane was at work until 12s ago on host here (pid 7 is gone)`, or that the lock is held: a Lease alone does not tell who lives. */
export function holderText({ holder, renewed, gone }: ShownHolder, at: string): string {
  const age = renewed === undefined ? undefined : `${spanSince(renewed, at)} ago`
  if (gone)
    return `${gone.user} ran kvup until ${age ?? 'a moment ago'} on host ${gone.host} (pid ${gone.pid} is gone)`
  return `another kvup is running: ${holder}${age === undefined ? '' : `, last renewal ${age}`}`
}

/** Behind the step at which a run was ended. */
export const goesOnText = (ids: readonly string[]): string =>
  `the cluster goes on by itself: ${someOf(ids, ids.length, 5)}`
