import { spanText } from '../../kube/duration.ts'
import type { EusReportDocument } from '../../eus/run/window-report.ts'
import type { EusStatusDocument } from '../../eus/run/window-status-report.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'
import type { EusPlanDocument } from '../../eus/planned-eus.ts'
import type { PlanDocument } from '../../upgrade/plan/plan-document.ts'
import type { UpgradeReport } from '../../upgrade/upgrade-report.ts'
import type { OutdatedDocument, OutdatedItem } from '../../vms/outdated-vms.ts'
import type { VmRestartsDocument, WorkloadsUpdateDocument } from '../../vms/waves/wave-run.ts'
import type { WorkloadStrategyDocument } from '../../vms/strategy/set-strategy.ts'
import type { RestartRequiredDocument } from '../../vms/rollout/rollout-strategy.ts'
import type { FleetPlanDocument } from '../../fleet/fleet-plan.ts'
import type { FleetStatusDocument } from '../views/fleet.ts'
import type { FleetCheckDocument } from '../views/fleet-check.ts'
import { fleetCheckText, fleetPlanText, fleetText, isWhole, toneOf, worstTone } from '../views/fleet-words.ts'
import { count } from '../text.ts'
import type { Document } from '../printer.ts'
import type { CheckDocument } from '../views/check-report.ts'
import { verdictText } from '../views/vms/outdated-workloads.ts'
import type { StatusDocument, WaitDocument } from '../views/status.ts'

/** What a document comes to, in one sentence without an end, and how bad that is. */
export interface Verdict {
  is: 'good' | 'warning' | 'bad'
  text: string
}

type Verdicts = Readonly<Record<string, (document: Document) => Verdict | undefined>>

/** The types of a view are those of its document; its kind says which it is. */
const judging = <T extends Document>(judge: (document: T) => Verdict | undefined) =>
  judge as (document: Document) => Verdict | undefined

const verdicts: Verdicts = {
  Status: judging(statusVerdict),
  Wait: judging(waitVerdict),
  CheckReport: judging(checkVerdict),
  UpgradePlan: judging(planVerdict),
  UpgradeReport: judging(upgradeVerdict),
  EusPlan: judging(eusPlanVerdict),
  EusReport: judging(eusVerdict),
  EusStatus: judging(eusStatusVerdict),
  OutdatedWorkloads: judging(outdatedVerdict),
  RestartRequired: judging(restartVerdict),
  WorkloadsUpdate: judging(wavesVerdict),
  VmRestarts: judging(wavesVerdict),
  FleetPlan: judging(fleetPlanVerdict),
  FleetStatus: judging(fleetStatusVerdict),
  FleetCheck: judging(fleetCheckVerdict),
  WorkloadStrategy: judging(strategyVerdict),
}

/** Of a command that judges, plans or changes something, and of a dry run of any; undefined for one that only lists. */
export const verdictOf = (document: Document): Verdict | undefined =>
  (isBroken(document) ? undefined : verdicts[document.kind]?.(document)) ?? dryRunVerdict(document)

/** A run that ended early is judged by its error. */
const isBroken = (document: Document): boolean =>
  (document.kind === 'UpgradeReport' || document.kind === 'EusReport') && !('outcome' in document)

function fleetPlanVerdict(plan: FleetPlanDocument & Document): Verdict {
  const failed = plan.clusters.filter(({ error }) => error !== undefined).length
  if (!isWhole(plan))
    return {
      is: 'bad',
      text: `not sealed: ${failed} of ${count(plan.clusters.length, 'cluster')} cannot be upgraded so`,
    }
  return { is: 'good', text: fleetPlanText(plan) }
}

function fleetCheckVerdict(document: FleetCheckDocument): Verdict {
  const tone = worstTone(document.items)
  return { is: tone === 'bad' ? 'bad' : tone === 'warn' ? 'warning' : 'good', text: fleetCheckText(document) }
}

function fleetStatusVerdict({ items }: FleetStatusDocument): Verdict {
  const tones = new Set(items.map(({ state }) => toneOf(state)))
  const is = tones.has('bad') ? 'bad' : tones.has('warn') ? 'warning' : 'good'
  return { is, text: fleetText(items) }
}

/** Of what was set; settings that are only shown are the answer themselves. */
function strategyVerdict({ outcome }: WorkloadStrategyDocument): Verdict | undefined {
  if (outcome === undefined || outcome === 'dry-run') return undefined
  const ended = { set: 'set, and in effect', 'already-so': 'already so, nothing was changed' }[outcome]
  return { is: 'good', text: `settings of VM updates: ${ended}` }
}

function dryRunVerdict(document: Document & { steps?: readonly DryRunStep[]; dryRun?: unknown }) {
  const { steps, dryRun } = document
  return dryRun === undefined || steps === undefined ? undefined : stepsVerdict('dry run', steps)
}

function stepsVerdict(
  what: string,
  steps: readonly Pick<DryRunStep, 'state' | 'refused' | 'title'>[],
): Verdict {
  const refused = steps.find((step) => step.refused !== undefined)
  if (refused?.refused) return { is: 'bad', text: `${what}: ${refused.title}: ${refused.refused.message}` }
  const changing = steps.filter(({ state }) => state !== 'already-so').length
  if (changing === 0) return { is: 'good', text: `${what}: nothing to do` }
  return { is: 'good', text: `${what}: ${changing} of ${count(steps.length, 'step')} to do` }
}

const levels = {
  Healthy: 'good',
  Updating: 'good',
  Waiting: 'warning',
  Stalled: 'bad',
  Degraded: 'bad',
} as const

function statusVerdict(status: StatusDocument): Verdict {
  const { overall, verdict, why, partly, idleOperator } = status
  const worst = overall?.verdict ?? verdict
  if (worst === undefined)
    return {
      is: 'warning',
      text: `KubeVirt is not installed${idleOperator ? '; virt-operator waits for it' : ''}`,
    }
  const is = `${`KubeVirt ${versionsText(status)}`.trim()} is ${worst}`
  if (worst === 'Healthy')
    return partly
      ? { is: 'warning', text: `${is}, but not all of it could be judged` }
      : { is: 'good', text: is }
  const cause = overall?.because ?? why?.[0]?.sentence
  return { is: levels[worst], text: cause === undefined ? is : `${is}: ${cause}` }
}

function versionsText({ observed, target }: StatusDocument): string {
  const [from, to = 'unknown'] = [observed?.version, target?.version]
  return from === undefined || from === to ? (target?.version ?? '') : `${from} → ${to}`
}

function waitVerdict({ for: condition, met, waitingFor, tookSeconds }: WaitDocument): Verdict {
  const took = spanText(tookSeconds * 1000)
  return met
    ? { is: 'good', text: `${condition} is met after ${took}` }
    : {
        is: 'bad',
        text: `${condition} is not met after ${took}: waiting for ${waitingFor ?? 'an answer'}`,
      }
}

/** `2 blockers, 1 not checked, 3 warnings`, of each kind that there is; `names` stands behind the blockers. */
function againstText(
  { blockers, notChecked, warnings }: Pick<CheckDocument['counts'], 'blockers' | 'notChecked' | 'warnings'>,
  names = '',
): string {
  const parts = [
    ...(blockers > 0 ? [`${count(blockers, 'blocker')}${names}`] : []),
    ...(notChecked > 0 ? [`${notChecked} not checked`] : []),
    ...(warnings > 0 ? [count(warnings, 'warning')] : []),
  ]
  return parts.join(', ')
}

/** The names that `--accept` and `kvup explain` take, so that nobody has to run it again to learn why. */
function blockersOf(items: CheckDocument['items']): string {
  const open = items.flatMap(({ findings }) => findings).filter(({ accepted }) => !accepted)
  return [...new Set(open.filter(({ level }) => level === 'blocker').map(({ id }) => id))].join(', ')
}

function checkVerdict({ outcome, counts, to, items }: CheckDocument): Verdict {
  const against = againstText(counts, counts.blockers > 0 ? ` (${blockersOf(items)})` : '')
  const counted = against === '' ? '' : `: ${against}`
  const what = to === undefined ? '' : ` for ${to}`
  if (outcome === 'blocked') return { is: 'bad', text: `NOT READY${what}${counted}` }
  return { is: counts.warnings > 0 ? 'warning' : 'good', text: `READY${what}${counted}` }
}

interface Path {
  from?: string | undefined
  to: string
}

const pathText = ({ from, to }: Path): string => (from === undefined || from === to ? to : `${from} → ${to}`)

function upgradeVerdict(report: UpgradeReport): Verdict {
  const { outcome, operator, degraded, tookSeconds, stoppedBefore, changes = [] } = report
  const paused = leavesPaused(report) ? '; automatic VM updates stay paused' : ''
  const what = operator ? `HyperConverged ${pathText(operator)}` : `KubeVirt ${pathText(report)}`
  const took = tookSeconds === undefined ? '' : ` in ${spanText(tookSeconds * 1000)}`
  if (degraded) return { is: 'bad', text: `${what}${took}, but Degraded: ${degraded.join('; ')}` }
  if (outcome === 'nothing-to-do')
    return {
      is: 'good',
      text: `${operator ? 'HyperConverged' : 'KubeVirt'} ${operator?.to ?? report.to}: nothing to do${paused}`,
    }
  if (stoppedBefore)
    return {
      is: 'warning',
      text: `${what}: stopped before ${stoppedBefore.step}, by --${stoppedBefore.because}${paused}`,
    }
  const lost = changes.filter((change) => change.lost).length
  if (lost > 0) return { is: 'bad', text: `${what}${took}, but ${lostText(lost)}` }
  return { is: 'good', text: `${what}${took}${paused}` }
}

/** The report of a run that found nothing to do has lines to type where they are paused alone. */
const leavesPaused = ({ outcome, workloads, next }: UpgradeReport): boolean =>
  outcome === 'nothing-to-do' ? next.length > 0 : (workloads?.paused ?? false)

function planVerdict({
  from,
  to,
  operator,
  pending,
  steps,
  findings,
  accepted,
  time,
}: PlanDocument): Verdict {
  const what = operator
    ? `plan of HyperConverged ${pathText(operator)}`
    : `plan of KubeVirt ${pathText({ from, to })}`
  if (!pending) return { is: 'good', text: `${what}: nothing to do` }
  const verdict = stepsVerdict(what, steps)
  if (verdict.is === 'bad') return verdict
  return found({ ...verdict, text: `${verdict.text}${betweenText(time)}` }, findings, accepted)
}

/** Of a document that has no estimate nothing. */
const betweenText = (time: { lowSeconds: number; highSeconds: number } | undefined): string =>
  time === undefined ? '' : `, ${spanText(time.lowSeconds * 1000)} to ${spanText(time.highSeconds * 1000)}`

function eusPlanVerdict({ from, to, pending, steps, time, findings, accepted }: EusPlanDocument): Verdict {
  const what = `plan of the EUS upgrade ${pathText({ from, to })}`
  if (!pending) return { is: 'good', text: `${what}: nothing to do` }
  const text = `${what}: ${count(steps.length, 'step')}${betweenText(time)}`
  return found({ is: 'good', text }, findings, accepted)
}

/** The verdict with what speaks against it, but for what was accepted. */
function found(
  { text }: Verdict,
  findings: readonly { id: string; level: string }[],
  accepted: readonly { id: string }[],
): Verdict {
  const open = findings.filter(({ id }) => !accepted.some((risk) => risk.id === id))
  const of = (level: string) => open.filter((finding) => finding.level === level).length
  const counts = { blockers: of('blocker'), notChecked: of('not-checked'), warnings: of('warning') }
  const against = againstText(counts)
  return {
    is: counts.blockers + counts.notChecked > 0 ? 'bad' : counts.warnings > 0 ? 'warning' : 'good',
    text: against === '' ? text : `${text}; ${against}`,
  }
}

const lostText = (n: number): string =>
  n === 1 ? '1 VM or volume was lost' : `${n} VMs or volumes were lost`

const eusEnds: Readonly<Record<EusReportDocument['outcome'], string>> = {
  done: 'done',
  'nothing-to-do': 'nothing to do',
  'stopped-before': 'stopped',
  aborted: 'aborted',
  restored: 'settings restored',
  'dry-run': 'dry run',
}

function eusVerdict({ from, to, outcome, seconds, stoppedBefore, changes = [] }: EusReportDocument): Verdict {
  const took = seconds === undefined ? '' : ` in ${spanText(seconds * 1000)}`
  const stop = stoppedBefore ? ` before ${stoppedBefore.step}, by --${stoppedBefore.because}` : ''
  const lost = changes.filter((change) => change.lost).length
  const text = `EUS upgrade ${pathText({ from, to })}: ${eusEnds[outcome]}${stop}${took}`
  if (lost > 0) return { is: 'bad', text: `${text}, but ${lostText(lost)}` }
  return { is: stoppedBefore || outcome === 'aborted' ? 'warning' : 'good', text }
}

function eusStatusVerdict({ open, from, to, at, steps, platform }: EusStatusDocument): Verdict {
  const done = steps.filter(({ state }) => state === 'done').length
  const failing = platform?.failing
  const text = open
    ? `EUS upgrade ${pathText({ from, to })}: at ${at}, ${done} of ${count(steps.length, 'step')} done`
    : `no EUS upgrade is running; the platform is at ${at}`
  return failing === undefined
    ? { is: 'good', text }
    : { is: 'bad', text: `${text}; the platform fails: ${failing}` }
}

function outdatedVerdict(document: OutdatedDocument & { items: readonly OutdatedItem[] }): Verdict {
  if (document.totals.total > 0) return { is: 'warning', text: verdictText(document) }
  return document.updating
    ? { is: 'warning', text: 'no VM is labelled outdated yet: KubeVirt is being updated' }
    : { is: 'good', text: 'no VM runs an old virt-launcher' }
}

function restartVerdict({ totals: { total } }: RestartRequiredDocument): Verdict {
  return total === 0
    ? { is: 'good', text: 'no VM waits for a restart' }
    : { is: 'warning', text: `${count(total, 'VM')} ${total === 1 ? 'waits' : 'wait'} for a restart` }
}

function wavesVerdict(report: WorkloadsUpdateDocument | VmRestartsDocument): Verdict {
  const { kind, outcome, stoppedBefore, items, shortfall } = report
  const paused =
    kind === 'WorkloadsUpdate' && report.paused !== undefined ? '; automatic VM updates stay paused' : ''
  const what = kind === 'VmRestarts' ? 'restarts of VMs' : 'update of VMs'
  if (outcome === 'nothing-to-do') return { is: 'good', text: `${what}: nothing to do${paused}` }
  if (shortfall !== undefined) return { is: 'bad', text: `${what}: ${outcome}: ${shortfall}${paused}` }
  const stop = stoppedBefore ? ` before ${stoppedBefore.step}, by ${stoppedBefore.because}` : ''
  const end = outcome === 'dry-run' ? 'dry run' : outcome
  return {
    is: outcome === 'stopped' ? 'warning' : 'good',
    text: `${what}: ${end}${stop}, ${count(items.length, 'VM')}${paused}`,
  }
}
