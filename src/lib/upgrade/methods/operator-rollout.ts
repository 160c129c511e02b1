import {
  type ClusterServiceVersion,
  type HyperConverged,
  HyperConvergeds,
  type InstallPlan,
} from '../../kube/kinds/operator-kinds.ts'
import { filled } from '../../kube/known.ts'
import { lastFailure } from '../../openshift/olm-failures.ts'
import { afterExecuted, assessCsv, assessInstallPlan, failurePatience } from '../../openshift/olm-status.ts'
import { since as timeSince } from '../../kube/timestamps.ts'
import type { ReadContext, Step, StepState } from '../../engine/step.ts'
import { minutes, seconds, ticks } from '../../kube/clock.ts'
import {
  csvOf,
  type HopTools,
  hyperConvergedIn,
  isEntered,
  isPast,
  labelOf,
  readOperator,
  type OperatorHop,
  type OperatorRollSnapshot,
  rollSnapshotWatches,
} from './operator-manifest.ts'
import { condition, isObserved } from '../../kube/object.ts'
import { assessHyperConverged } from '../../openshift/hyperconverged.ts'
import { operatorVersionOf } from '../../releases/release-versions.ts'
import { type DaemonSet, DaemonSets, type Deployment, Deployments } from '../../kube/kinds/workload-kinds.ts'
import { readRollout, snapshotWatches } from '../upgrade-snapshot.ts'
import { Broken, stableText, stalledOr } from '../steps/component-rollout.ts'
import { spanText } from '../../kube/duration.ts'

/** Waits until OLM has applied what the InstallPlan holds. Complete means no more than that (ocp 2.2). */
export function planComplete(hop: OperatorHop): Step {
  return {
    id: `plan-complete-${labelOf(hop)}`,
    title: `wait until the InstallPlan of ${hop.version} is complete`,
    patience: { every: 5 * seconds, atMost: 20 * minutes },
    estimate: 30 * seconds,
    watches: rollSnapshotWatches(hop),
    dependsOn: [`approve-${labelOf(hop)}`],
    goesOn: true,
    risk: { undo: 'none: OLM does not downgrade', safeToLeave: 'OLM continues by itself' },
    async check({ reader }): Promise<StepState> {
      return completion(await readOperator(reader, hop), hop)
    },
  }
}

function completion(snapshot: OperatorRollSnapshot, hop: OperatorHop): StepState {
  const { plan } = snapshot
  if (plan === undefined || !isOurs(plan, hop) || plan.status?.phase === 'Complete')
    return isEntered(snapshot, hop) ? { is: 'done' } : { is: 'waiting', on: `OLM to create ${hop.csv}` }
  const { name, phase, message, startedAt, state, executed } = assessInstallPlan(plan)
  const { namespace } = hop.subscription
  const remedy = [`kubectl -n ${namespace} get installplan ${name} -o yaml`]
  if (state === 'failed')
    return failed(name, message, { hop, remedy, executed: executed || csvOf(snapshot, hop) !== undefined })
  const trouble = message === '' ? {} : { trouble: message, remedy }
  return {
    is: 'waiting',
    on: `installplans/${name} (${phase || 'no phase'})`,
    ...trouble,
    ...filled({ since: startedAt }),
  }
}

const isOurs = ({ spec }: InstallPlan, { csv }: OperatorHop): boolean =>
  spec?.clusterServiceVersionNames?.includes(csv) === true

/** Final (ocp 2.2). Only a plan of which nothing was written is made anew when it is deleted. */
function failed(
  name: string,
  message: string,
  { hop, remedy, executed }: { hop: OperatorHop; remedy: readonly string[]; executed: boolean },
): StepState {
  const { namespace, name: subscription } = hop.subscription
  const drop = `kubectl -n ${namespace} delete installplan ${name}     lets OLM make a new one, once its cause is mended`
  return {
    is: 'blocked',
    reason: 'plan-failed',
    by: `installplans/${name} in namespace ${namespace} failed, and OLM does not retry it: ${message || 'no message'}`,
    remedy: [...remedy, ...(executed ? afterExecuted(subscription, [hop.csv]) : [drop])],
  }
}

/** Waits for the CSV to be Succeeded. Recognises the hold by an OperatorCondition, which looks like a stuck update (ocp 2.5). */
export function csvSucceeded(hop: OperatorHop): Step {
  return {
    id: `csv-succeeded-${labelOf(hop)}`,
    title: `wait for ClusterServiceVersion ${hop.version}`,
    patience: { every: 5 * seconds, atMost: 60 * minutes },
    estimate: 3 * minutes,
    watches: rollSnapshotWatches(hop),
    dependsOn: [`approve-${labelOf(hop)}`],
    goesOn: true,
    risk: { undo: 'none: OLM does not downgrade', safeToLeave: 'OLM continues by itself' },
    async check({ reader, clock }): Promise<StepState> {
      const snapshot = await readOperator(reader, hop)
      if (isPast(snapshot.subscription, hop.csv))
        return { is: 'done', note: 'OLM has continued to a later one' }
      const state = csvState(snapshot, hop, clock.now())
      return state.is === 'done' ? { is: 'done', note: `operator ${hop.version} runs` } : state
    },
  }
}

/** Where the CSV of a hop stands at this look. Pure; it falls back whenever its Deployments do (ocp 2.4), so that it is asked again later. */
function csvState(snapshot: OperatorRollSnapshot, hop: OperatorHop, now: Date): StepState {
  const csv = csvOf(snapshot, hop)
  return csv === undefined ? { is: 'waiting', on: `OLM to create ${hop.csv}` } : phaseState(csv, hop, now)
}

/** Which of its Deployments a CSV waits for stands in its message alone: on one line, and not for kilobytes. */
const deploymentIn = (message: string): string =>
  message
    .replace(/^installing: /u, '')
    .replaceAll(/\s+/gu, ' ')
    .slice(0, 300)

function waitsOf({ status = {} }: ClusterServiceVersion): string {
  const { phase, reason, message = '' } = status
  const waits = phase === 'Installing' && reason === 'InstallWaiting' ? deploymentIn(message) : ''
  return waits === '' ? '' : `: ${waits}`
}

function phaseState(csv: ClusterServiceVersion, hop: OperatorHop, now: Date): StepState {
  const { name, phase, state, reason, message, isUsual, since, unsettledSince } = assessCsv(csv, now)
  if (state === 'succeeded') return { is: 'done' }
  const { namespace } = hop.subscription
  const on = `clusterserviceversions/${name} (${phase || 'new'})${waitsOf(csv)}`
  const at = filled({ since })
  if (state === 'held') return { is: 'stalled', on, ...heldBack(csv, message, namespace), ...at }
  const failure = state === 'leaving' ? undefined : lastFailure(csv)
  const why = failure ?? `${reason}: ${message}`
  const remedy = [`kubectl -n ${namespace} describe csv ${name}`, `kubectl -n ${namespace} get pods`]
  const isLong = (timeSince(unsettledSince, now) ?? 0) >= failurePatience
  if (state === 'failed' || (failure !== undefined && isLong))
    return { is: 'stalled', on, why, remedy, ...at }
  const isTold = failure !== undefined || (phase === 'Pending' && message !== '' && !isUsual)
  return { is: 'waiting', on, ...(isTold && { trouble: why, remedy }), ...at }
}

/** The condition belongs to what is replaced; its override is for whoever knows better. */
function heldBack({ spec }: ClusterServiceVersion, message: string, namespace: string) {
  const name = spec?.replaces ?? 'NAME'
  return {
    why: `OLM blocks the update: the OperatorCondition of the installed operator (${name}) says no: ${message}`,
    remedy: [
      `kubectl -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml     says why`,
      `kubectl -n ${namespace} describe hyperconverged.hco.kubevirt.io     it goes on by itself once that is mended`,
    ],
  }
}

/** A Degraded that lasts longer is none of those that come with an update. */
const degradedPatience = 10 * minutes

/**
 * Waits until HyperConverged says that every operand is of its release: status.versions, and all conditions as they must be, of the present
 * spec. A Succeeded CSV proves nothing of it (ocp 1.5, 9.7).
 */
export function hyperConvergedAt(hop: OperatorHop, { kubevirt }: Pick<HopTools, 'kubevirt'>): Step {
  const { namespace } = hop.subscription
  return {
    id: `hyperconverged-at-${labelOf(hop)}`,
    title: `wait for HyperConverged ${hop.version}`,
    patience: { every: 10 * seconds, atMost: 3 * 60 * minutes },
    estimate: 8 * minutes,
    watches: [...rollSnapshotWatches(hop), { kind: HyperConvergeds, where: { namespace } }],
    dependsOn: [`approve-${labelOf(hop)}`],
    goesOn: true,
    risk: { undo: 'none: OLM does not downgrade', safeToLeave: 'its operator continues by itself' },
    async check(cx): Promise<StepState> {
      const { reader, clock } = cx
      const { subscription } = await readOperator(reader, hop)
      if (isPast(subscription, hop.csv)) return { is: 'done', note: 'OLM has continued to a later one' }
      const state = rolloutState(await hyperConvergedIn(reader, namespace), hop, clock.now())
      return state.is === 'stalled' ? withKubeVirtsCause(cx, kubevirt, state) : state
    },
  }
}

/** HyperConverged repeats what KubeVirt says of itself: which pod, image or node it waits for, KubeVirt's own diagnosis tells. */
async function withKubeVirtsCause(
  cx: ReadContext,
  kubevirt: HopTools['kubevirt'],
  state: Extract<StepState, { is: 'stalled' }>,
): Promise<StepState> {
  const { rolloutStatus } = await readRollout(cx, kubevirt)
  const found = stalledOr(rolloutStatus, undefined, { is: 'waiting', on: state.on })
  if (found.is !== 'stalled') return state
  return { ...state, why: found.why, remedy: [...(found.remedy ?? []), ...(state.remedy ?? [])] }
}

function rolloutState(hco: HyperConverged, { version }: OperatorHop, now: Date): StepState {
  const { good, why, operatorVersion = 'none', name, namespace } = assessHyperConverged(hco)
  const isAt = (operatorVersionOf(operatorVersion)?.text ?? operatorVersion) === version
  if (isAt && good) return { is: 'done', note: `HyperConverged is at ${version}` }
  const on = isAt
    ? `HyperConverged ${name} to be healthy`
    : `HyperConverged ${name} to update all operands to ${version} (at ${operatorVersion})`
  const remedy = [`kubectl -n ${namespace} describe hyperconverged.hco.kubevirt.io ${name}`, 'kvup status']
  const since = degradedSince(hco)
  if (since !== undefined && now.getTime() - Date.parse(since) >= degradedPatience)
    return { is: 'stalled', on, why: why.join('; '), remedy, since }
  return { is: 'waiting', on, ...filled({ trouble: why.join('; ') }), remedy }
}

function degradedSince(hco: HyperConverged): string | undefined {
  const degraded = condition(hco, 'Degraded')
  return degraded?.status === 'True' ? degraded.lastTransitionTime : undefined
}

/** So many good looks in a row, whatever the time between them (ocp 5.1). */
const goodReadings = 3

/**
 * Conditions become good before all is rolled (ocp 5.1): the CSV has to be Succeeded still, KubeVirt Healthy, every Deployment and DaemonSet of the namespace rolled,
 * and HyperConverged good, for as long as the hop says and several times in a row.
 */
export function operandsRolled(hop: OperatorHop, { kubevirt }: HopTools): Step {
  const { namespace } = hop.subscription
  const good = new GoodInARow(hop.stableMs)
  const broken = new Broken()
  const short = new ShortFor()
  return {
    id: `operands-rolled-${labelOf(hop)}`,
    title: `verify the operands of ${hop.version}`,
    doing: `verifying that the operands of ${hop.version} stay healthy`,
    patience: {
      every: Math.max(Math.min(5 * seconds, hop.stableMs / goodReadings), 250),
      atMost: 12 * 60 * minutes,
    },
    estimate: hop.stableMs + 2 * minutes,
    watches: [
      ...snapshotWatches(kubevirt),
      { kind: Deployments, where: { namespace } },
      { kind: DaemonSets, where: { namespace } },
    ],
    dependsOn: [`approve-${labelOf(hop)}`],
    goesOn: true,
    risk: { undo: 'none: OLM does not downgrade', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const snapshot = await readOperator(cx.reader, hop)
      if (isPast(snapshot.subscription, hop.csv))
        return { is: 'done', note: 'OLM has continued to a later one' }
      const csv = csvState(snapshot, hop, cx.clock.now())
      const missing = csv.is === 'done' ? await firstMissing(cx, hop, { kubevirt, broken, short }) : csv
      return good.after(missing, ticks(cx.clock))
    },
  }
}

/** What is not as it has to be; undefined where all is. */
async function firstMissing(
  cx: ReadContext,
  hop: OperatorHop,
  { kubevirt, broken, short }: Pick<HopTools, 'kubevirt'> & { broken: Broken; short: ShortFor },
): Promise<StepState | undefined> {
  const { namespace } = hop.subscription
  const { rolloutStatus, faults } = await readRollout(cx, kubevirt)
  const end = broken.after(faults, ticks(cx.clock))
  if (end !== undefined) return end
  if (rolloutStatus.verdict !== 'Healthy')
    return stalledOr(rolloutStatus, undefined, {
      is: 'waiting',
      on: rolloutStatus.waitingFor ?? 'KubeVirt to be healthy',
    })
  const [deployments, daemonsets] = await Promise.all([
    cx.reader.list(Deployments, { namespace }),
    cx.reader.list(DaemonSets, { namespace }),
  ])
  const rolling = notRolled(deployments, daemonsets)
  const remedy = [`kubectl -n ${namespace} get deployments,daemonsets,pods`]
  if (rolling && !rolling.isShort) return { is: 'waiting', on: rolling.what, remedy }
  const { good, why } = assessHyperConverged(await hyperConvergedIn(cx.reader, namespace))
  if (!good) return { is: 'waiting', on: `HyperConverged: ${why.join('; ')}` }
  return rolling && short.isWaitedFor(ticks(cx.clock))
    ? {
        is: 'waiting',
        on: `${rolling.what}, for 2 m at most`,
        now: `HyperConverged reports that it is done, but ${rolling.what} is not ready; waiting 2 m at most`,
        remedy,
      }
    : undefined
}

/** Pods that are missing somewhere while HyperConverged and KubeVirt say that they are done, which may be so for ever: waited for two minutes. */
class ShortFor {
  #since: number | undefined

  isWaitedFor(now: number): boolean {
    this.#since ??= now
    return now - this.#since < 2 * minutes
  }
}

/** Any worse look starts it again. */
class GoodInARow {
  readonly #settleMs: number
  #since: number | undefined
  #readings = 0

  constructor(stableMs: number) {
    this.#settleMs = stableMs
  }

  after(missing: StepState | undefined, now: number): StepState {
    if (missing !== undefined) {
      this.#since = undefined
      this.#readings = 0
      return missing
    }
    this.#since ??= now
    this.#readings++
    const held = now - this.#since
    // Who wants nothing to stay good asks once, as a status does.
    const enough = this.#settleMs === 0 ? 1 : goodReadings
    if (held >= this.#settleMs && this.#readings >= enough)
      return { is: 'done', note: `all operands stable for ${spanText(held)}` }
    return {
      is: 'waiting',
      on: `all operands to stay healthy for ${spanText(this.#settleMs)}`,
      now: stableText(held, this.#settleMs),
    }
  }
}

/** One that does not run its present template everywhere. */
interface NotRolled {
  /** With its count. */
  what: string
  /** Its present template was seen and no pod of an older one is left: only pods are missing, and nothing moves any more. */
  isShort: boolean
}

/** The first that does not run its present template everywhere, one that is moving before one that is only short; undefined where all do. */
function notRolled(
  deployments: readonly Deployment[],
  daemonsets: readonly DaemonSet[],
): NotRolled | undefined {
  const open = [...deployments.map(deploymentCount), ...daemonsets.map(daemonSetCount)].filter(
    ({ done }) => !done,
  )
  const found = open.find(({ isShort }) => !isShort) ?? open[0]
  return found && { what: `${found.what} (${found.ready}/${found.wanted})`, isShort: found.isShort }
}

interface Count {
  what: string
  ready: number
  wanted: number
  done: boolean
  isShort: boolean
}

function deploymentCount(deployment: Deployment): Count {
  const wanted = deployment.spec?.replicas ?? 1
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = deployment.status ?? {}
  const ready = Math.min(updatedReplicas, availableReplicas)
  const done = isObserved(deployment) && ready >= wanted && replicas <= wanted
  const isShort = isObserved(deployment) && replicas <= updatedReplicas
  return { what: `deployment ${deployment.metadata.name}`, ready, wanted, done, isShort }
}

function daemonSetCount(daemonset: DaemonSet): Count {
  const {
    desiredNumberScheduled: wanted = 0,
    updatedNumberScheduled = 0,
    numberAvailable = 0,
  } = daemonset.status ?? {}
  const ready = Math.min(updatedNumberScheduled, numberAvailable)
  return {
    what: `daemonset ${daemonset.metadata.name}`,
    ready,
    wanted,
    done: isObserved(daemonset) && ready >= wanted,
    isShort: isObserved(daemonset) && updatedNumberScheduled >= wanted,
  }
}
