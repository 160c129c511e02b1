import { spanText } from '../../../kube/duration.ts'
import type { Paint, Tone, View } from '../../printer.ts'
import { someOf } from '../../../kube/text.ts'
import { brief, wrap } from '../../text.ts'
import { toType } from '../../terminal.ts'
import { alertLines, changeLines, goesOnText, holderText, takenLines, upToTwenty } from '../report-lines.ts'
import { dryRunLines } from '../dry-run.ts'
import type { EusReportDocument } from '../../../eus/run/window-report.ts'
import { whatOf } from '../../../engine/overrides.ts'
import type { Part } from '../../../eus/window-status.ts'
import { headAndDetails } from '../cluster-state.ts'
import type { EusStatusDocument } from '../../../eus/run/window-status-report.ts'

export const eusReportView: View<EusReportDocument> = {
  text(report, paint, size) {
    const { outcome, dryRunSteps = [], dryRun, notes, next } = report
    if (outcome === 'dry-run')
      return dryRunLines({ steps: dryRunSteps, mode: dryRun ?? 'client' }, paint, size)
    const lines = [
      headline(report, paint),
      ...stopLines(report, paint),
      ...nodeLines(report, paint),
      ...volumeLines(report, paint),
      ...changeLines(report, paint),
      ...alertLines(report, paint),
      ...rewrittenLines(report, paint),
      ...overriddenLines(report, paint),
      ...takenLines(report.accepted),
      ...notes,
      ...next.map((line) => `  ${paint.mark.next} ${line}`),
      ...(outcome === 'nothing-to-do' || next.length > 0 ? [] : ['  report: kvup history']),
    ]
    return lines.flatMap((line) => wrap(line, size.columns))
  },
  names: ({ steps, dryRunSteps = [] }) => [...steps, ...dryRunSteps].map(({ id }) => `step/${id}`),
}

const words: Readonly<Record<EusReportDocument['outcome'], string>> = {
  done: 'the EUS upgrade is done',
  'nothing-to-do': 'there is nothing to do',
  'stopped-before': 'stopped before the end',
  aborted: 'the EUS upgrade was aborted',
  restored: 'settings were restored',
  'dry-run': 'dry run',
}

function headline({ from, to, outcome, seconds }: EusReportDocument, paint: Paint): string {
  const took = seconds === undefined ? '' : ` after ${spanText(seconds * 1000)}`
  const mark = outcome === 'stopped-before' ? paint.mark.running : paint.mark.done
  return `${mark} ${from} → ${to}: ${words[outcome]}${took}`
}

function stopLines({ stoppedBefore }: EusReportDocument, paint: Paint): string[] {
  if (stoppedBefore === undefined) return []
  const { step, because, safeToLeave, goesOn } = stoppedBefore
  const on = goesOn ? `; ${goesOnText(goesOn)}` : ''
  const safe = safeToLeave === undefined ? '' : `; safe to leave ${safeToLeave}`
  return [`${paint.mark.next} before ${step}, by --${because}${on}${safe}`]
}

function nodeLines({ nodes }: EusReportDocument, paint: Paint): string[] {
  if (nodes === undefined) return []
  const { changed, gone } = nodes
  if (changed.length + gone.length === 0) return ['labels and taints of the nodes are unchanged']
  return [
    ...(changed.length > 0
      ? [`${paint.mark.warning} other labels or taints than before: ${changed.join(', ')}`]
      : []),
    ...(gone.length > 0 ? [`${paint.mark.warning} nodes that are gone: ${gone.join(', ')}`] : []),
  ]
}

function volumeLines({ volumes, comparedWith }: EusReportDocument, paint: Paint): string[] {
  if (volumes === undefined) return []
  const { changed, gone } = volumes
  // What is said of VMs says it of volumes too.
  if (changed.length + gone.length === 0) return comparedWith === undefined ? ['volumes are unchanged'] : []
  return [
    ...(changed.length > 0
      ? [`${paint.mark.warning} other volumes than before: ${upToTwenty(changed)}`]
      : []),
    ...(gone.length > 0 ? [`${paint.mark.warning} volumes that are gone: ${upToTwenty(gone)}`] : []),
  ]
}

function rewrittenLines({ rewritten = [] }: EusReportDocument, paint: Paint): string[] {
  return rewritten.map((line) => `${paint.mark.dot} HyperConverged has changed and is not reverted: ${line}`)
}

function overriddenLines({ overrides }: EusReportDocument, paint: Paint): string[] {
  if (overrides.length === 0) return []
  const named = overrides.map(({ id }) => whatOf(id)).join(', ')
  return [`temporary changes: ${named}`, `  ${paint.mark.next} kvup eus abort     # restores them`]
}

export const eusStatusView: View<EusStatusDocument> = {
  text(status, paint, size) {
    const [next, ...others] = status.next
    const head = [
      statusHeadline(status, paint),
      ...(next === undefined ? [] : [toType('Next:', next)]),
      ...others.map((line, i) => withLead(line, i === 0 && isNodeFirst(status), paint)),
    ]
    const details = [
      ...armedLines(status, paint),
      ...status.parts.map((part) => partLine(part, paint)),
      ...lastLines(status, paint),
    ]
    const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
    return headAndDetails(fitted(head), fitted(details), size)
  },
  names: ({ steps }) => steps.map(({ id }) => `step/${id}`),
}

/** What is wrong is looked at before the upgrade goes on. */
const isNodeFirst = ({ open, notReady = [] }: EusStatusDocument): boolean => open && notReady.length > 0

function withLead(line: string, isThen: boolean, paint: Paint): string {
  if (isThen) return toType('Then:', line)
  return line.startsWith('kvup eus abort') ? toType('Or:', line) : `${paint.mark.next} ${line}`
}

function statusHeadline(status: EusStatusDocument, paint: Paint): string {
  const { open, from, to, at, leaves, platform, ageSeconds, unpauseBefore } = status
  if (!open && platform !== undefined) {
    const how = { idle: 'is at', updating: 'is updating', partial: 'stopped halfway' }[platform.state]
    const left = leaves === undefined ? '' : ` from ${platform.incomplete ? 'incomplete ' : ''}${leaves}`
    const where = platform.state === 'idle' ? at : `${left.trim()} to ${at}`.trim()
    const said = platform.failing === undefined ? '' : `, and fails: ${brief(platform.failing)}`
    return `${paint.mark.dot} no EUS upgrade is running; the platform ${how} ${where}${said}`
  }
  if (!open) {
    const next = at.startsWith(`${to}.`) ? '' : `; the next goes to ${to}`
    return `${paint.mark.dot} no EUS upgrade is running (platform ${at}${next})`
  }
  const day = ageSeconds === undefined ? '' : ` · day ${Math.floor(ageSeconds / 86_400) + 1}`
  const before = unpauseBefore === undefined ? '' : ` · unpause before ${unpauseBefore.slice(0, 10)}`
  const where = leaves === undefined ? `at ${at}` : `updating from ${leaves} to ${at}`
  const verdict = verdictOf(status)
  return `${paint.strong(`EUS upgrade ${from} → ${to}:`)} ${paint[verdict.tone](verdict.text)} (control plane ${where})${day}${before}`
}

/** What is going on in it, or that nobody is at work on it. */
function verdictOf(status: EusStatusDocument): { text: string; tone: Tone } {
  const { platform, armed, overrides } = status
  if (platform?.failing !== undefined)
    return { text: `DEGRADED: the platform fails: ${brief(platform.failing)}`, tone: 'bad' }
  if (armed?.why !== undefined) return { text: 'DEGRADED: the platform refuses the update', tone: 'bad' }
  if (platform?.state === 'partial') return { text: 'STALLED: the platform stopped halfway', tone: 'bad' }
  const trouble = notReadyText(status)
  if (isAtWork(status) || platform?.state === 'updating')
    return { text: `updating${trouble}`, tone: trouble === '' ? 'strong' : 'warn' }
  const nobody = overrides.length > 0 ? 'no kvup is running' : 'worker pools are paused'
  return { text: `waiting, ${nobody}${trouble}`, tone: 'warn' }
}

/** `, node gpu-1 is NotReady for 8 m 53 s while its pool updates it`. */
function notReadyText({ notReady = [] }: EusStatusDocument): string {
  const [first] = notReady
  if (first === undefined) return ''
  const { name, seconds } = first
  const names = notReady.map((node) => node.name)
  const which = names.length === 1 ? `node ${name} is` : `nodes ${someOf(names)} are`
  const age = names.length > 1 || seconds === undefined ? '' : ` for ${spanText(seconds * 1000)}`
  const whose = names.length === 1 ? 'its pool updates it' : 'their pools update them'
  return `, ${which} NotReady${age}${notReady.every(({ updating }) => updating) ? ` while ${whose}` : ''}`
}

/** In red, whoever set it: what was refused, or nobody knows of. */
function armedLines({ armed }: EusStatusDocument, paint: Paint): string[] {
  if (armed === undefined) return []
  const { version, image, by, why } = armed
  // Between the request and the answer that is how it goes.
  if (by === 'kvup' && why === undefined)
    return [
      ` ${paint.mark.running} platform ${version ?? image} is requested: the platform has not answered yet`,
    ]
  const said = why === undefined ? '' : ` (${brief(why)})`
  return [
    paint.bad(
      `${paint.mark.failed} an update to ${version ?? image ?? 'another release'} is requested by ${by} and not running${said}: it starts by itself once its cause is gone`,
    ),
    `  ${paint.mark.next} ${by === 'kvup' ? 'kvup eus abort' : 'oc adm upgrade --clear'}     # withdraws it`,
  ]
}

function partLine({ name, state, note }: Part, paint: Paint): string {
  const { mark } = paint
  const sign = { done: paint.good(mark.done), now: mark.running, ahead: ' ' }[state]
  const text = ` ${sign} ${note === undefined || state === 'ahead' ? name : `${name.padEnd(30)} ${brief(note)}`}`
  return state === 'ahead' ? paint.dim(text) : text
}

/** A run whose process is gone is nobody's. */
const isAtWork = ({ running }: EusStatusDocument): boolean =>
  running !== undefined && running.gone === undefined

/** A person is told who it is; the whole name of the lock is for a program. */
const withoutProcess = (running: NonNullable<EusStatusDocument['running']>): typeof running => ({
  ...running,
  holder: running.holder.split('/')[0] ?? running.holder,
})

function lastLines(status: EusStatusDocument, paint: Paint): string[] {
  const { overridesText, open, left, safeToLeave, unknown } = status
  return [
    ...(overridesText === '' ? [] : [`temporary changes: ${overridesText}`]),
    ...(status.running ? [holderText(withoutProcess(status.running), status.running.asOf)] : []),
    ...(left === undefined || !open
      ? []
      : [
          `time left: ${spanText(left.lowSeconds * 1000)} to ${spanText(left.highSeconds * 1000)}, without pauses`,
        ]),
    ...(safeToLeave === undefined
      ? []
      : [`safe to leave here: ${safeToLeave.replace(/^always: /u, 'always, ')}`]),
    ...(status.alerts === undefined ? [] : [`alerts: ${status.alerts}`]),
    ...unknown.map((line) => `${paint.mark.dot} unknown: ${brief(line)}`),
  ]
}
