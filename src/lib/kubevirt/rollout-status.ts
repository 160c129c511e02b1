import { type Cause, concerns, type LastLine, type LastLines } from './diagnosis/pod-trouble.ts'
import { causes, holdsPods, isTerminal, quietCause } from './diagnosis/diagnosis.ts'
import {
  assessComponents,
  assessOperator,
  type ComponentStatus,
  isFresh,
  limitLeft,
  type OperatorStatus,
  rollCounts,
  rollToCome,
  type StrategyJob,
  strategyJob,
  updatedPods,
  versionDiffers,
  waitsFor,
} from './component-status.ts'
import {
  beingDeleted,
  componentLabel,
  deploymentFailure,
  failurePersists,
  type Gap,
  identifierOf,
  infraPods,
  type JudgedCondition,
  judgedConditions,
  lastChange,
  operatorName,
  podsOf,
  saysDone,
  stampedVersion,
  targetId,
  underWay,
  unlistedWorkloads,
  type UpgradeSnapshot,
  wordGaps,
  type Workload,
  workloads,
} from './installed-components.ts'
import { earliest, since } from '../kube/timestamps.ts'
import { type Installation, theInstallation } from './installation.ts'
import { type Snapshot, statusParts, takeSnapshot } from './snapshot.ts'
import type { Reader } from '../kube/cluster.ts'
import type { Clock } from '../kube/clock.ts'
import { itemsOf } from '../kube/known.ts'

export type Verdict = 'Healthy' | 'Updating' | 'Stalled' | 'Degraded'

/** No component changed for this long while something is under way: Stalled. */
const quietPatience = 10 * 60_000
/** The same where something is known that keeps pods from being created, placed or replaced. */
const heldPatience = 2 * 60_000
/** Replicas short for this long with nothing moving: Degraded. */
const shortPatience = 60_000

export interface RolloutStatus {
  verdict: Verdict
  /** RFC 3339; one look can only say "at least". */
  since?: string
  /** What is in the way; also while Updating, before it counts. Empty when Healthy. */
  why: readonly Cause[]
  /** The first thing that is missing for Healthy. */
  waitingFor?: string
  /** In the order in which virt-operator rolls them. */
  components: readonly ComponentStatus[]
  operator: OperatorStatus | undefined
  target: Revision
  observed: Revision
  generation: { spec: number | undefined; observed: number | undefined }
  conditions: readonly JudgedCondition[]
  strategyJob?: StrategyJob
  /** What kvup expects beyond what KubeVirt and Kubernetes say, and does not see: no verdict depends on it. Empty unless KubeVirt says that it is done. */
  doubts: readonly Doubt[]
  /** What could not be seen and was therefore not judged: a Healthy with remarks is one with that reservation. */
  remarks: readonly string[]
}

interface Revision {
  version?: string
  registry?: string
  /** The deployment ID. */
  id?: string
}

/**
 * The verdict of the contract over one look, at that time. Pure. Throws what `theInstallation` throws when there is not
 * exactly one KubeVirt.
 */
export function assessRollout(
  snapshot: Snapshot,
  at: Date,
  lastLines: readonly LastLine[] = [],
): RolloutStatus {
  return statusOf(observe(snapshot, at, lastLines))
}

/** The same where nothing is missing; undefined elsewhere, for who then reads what the causes need: `explainedStatus`. */
export function assessHealthy(snapshot: Snapshot, at: Date): RolloutStatus | undefined {
  const observation = observe(snapshot, at, [])
  return observation.open.length === 0 ? statusOf(observation) : undefined
}

interface Observation extends Parts {
  observed: UpgradeSnapshot
  open: readonly Gap[]
}

function observe(snapshot: Snapshot, at: Date, lastLines: readonly LastLine[]): Observation {
  const { kubevirt, deployment } = theInstallation(snapshot)
  const observed: UpgradeSnapshot = { snapshot, kubevirt, operator: deployment, at, lastLines }
  const operator = assessOperator(observed)
  const parts = { components: assessComponents(observed), operator, strategyJob: strategyJob(observed) }
  return { ...parts, observed, open: gaps(observed, parts) }
}

function statusOf({
  observed,
  open,
  operator,
  components: rolled,
  strategyJob: job,
}: Observation): RolloutStatus {
  const { kubevirt, at } = observed
  const found = open.length === 0 ? [] : causes(observed)
  const judged = judge(observed, { open, why: found, operator })
  const why = explained(judged, { found, open }, observed)
  const from = sinceOf(judged, observed, why)
  return {
    verdict: judged,
    ...(from === undefined ? {} : { since: from }),
    why,
    ...(open[0] ? { waitingFor: open[0].what } : {}),
    components: rolled.map((component) => held(component, why, at)),
    operator,
    ...revisions(observed),
    generation: { spec: kubevirt.metadata.generation, observed: kubevirt.status?.observedGeneration },
    conditions: judgedConditions(kubevirt, at),
    ...(job ? { strategyJob: job } : {}),
    doubts: doubts(observed, { components: rolled, operator }),
    remarks: remarks(observed, operator),
  }
}

/** A bad verdict never stands without a reason. */
function explained(
  verdict: Verdict,
  { found, open }: { found: readonly Cause[]; open: readonly Gap[] },
  snapshot: UpgradeSnapshot,
): readonly Cause[] {
  const [gap] = open
  const bad = verdict === 'Stalled' || verdict === 'Degraded'
  return bad && gap && found.length === 0 ? [quietCause(snapshot, gap.what)] : found
}

interface VerdictInputs {
  open: readonly Gap[]
  why: readonly Cause[]
  operator: OperatorStatus | undefined
}

function judge(snapshot: UpgradeSnapshot, observed: VerdictInputs): Verdict {
  const { open, why } = observed
  if (open.length === 0) return 'Healthy'
  const moves = open.some((gap) => gap.is === 'under-way')
  const isTerminated = why.some((cause) => isTerminal(cause, snapshot.at))
  // What virt-operator says a minute later of a pod that keeps ending is the same fault.
  if (hasFailed(snapshot, observed)) return isTerminated && moves ? 'Stalled' : 'Degraded'
  if (isTerminated) return moves ? 'Stalled' : 'Degraded'
  const quiet = since(lastChange(snapshot), snapshot.at) ?? 0
  const short = !moves && open.some((gap) => gap.is === 'short')
  if (short && quiet >= shortPatience) return 'Degraded'
  return quiet >= (why.some(holdsPods) ? heldPatience : quietPatience) ? 'Stalled' : 'Updating'
}

/** What an operator said that is being replaced is not the last word (facts 2.7). */
function hasFailed({ kubevirt, at }: UpgradeSnapshot, { operator }: VerdictInputs): boolean {
  const replaced = operator?.rolled === false || operator?.leads === false
  return !replaced && failurePersists(kubevirt, at)
}

function sinceOf(verdict: Verdict, snapshot: UpgradeSnapshot, why: readonly Cause[]): string | undefined {
  if (verdict === 'Healthy') return lastChange(snapshot)
  if (verdict === 'Updating') return updateStart(snapshot)
  const terminal = why.filter((cause) => isTerminal(cause, snapshot.at)).map((cause) => cause.since)
  return earliest(terminal) ?? deploymentFailure(snapshot.kubevirt)?.since ?? lastChange(snapshot)
}

/** UpdateInProgress keeps its message, and so its time, for the whole update. */
function updateStart({ kubevirt }: UpgradeSnapshot): string | undefined {
  // A condition that is brand-new has null there (facts 1.5).
  return (
    kubevirt.status?.conditions?.find((c) => c.type === 'Progressing' && c.status === 'True')
      ?.lastTransitionTime ?? undefined
  )
}

function held(component: ComponentStatus, why: readonly Cause[], at: Date): ComponentStatus {
  const stuck = why.some((cause) => concerns(cause, component.name) && isTerminal(cause, at))
  return stuck && component.state === 'rolling' ? { ...component, state: 'stalled' } : component
}

function revisions({ kubevirt }: UpgradeSnapshot): { target: Revision; observed: Revision } {
  const { status = {} } = kubevirt
  return {
    target: revision(status.targetKubeVirtVersion, status.targetKubeVirtRegistry, status.targetDeploymentID),
    observed: revision(
      status.observedKubeVirtVersion,
      status.observedKubeVirtRegistry,
      status.observedDeploymentID,
    ),
  }
}

function revision(version?: string, registry?: string, id?: string): Revision {
  return { ...(version && { version }), ...(registry && { registry }), ...(id && { id }) }
}

/** The installation and how far it is, by one look of its own without causes. Throws what `takeSnapshot` and `theInstallation` throw. */
export async function rolloutNow(
  reader: Reader,
  clock: Clock,
): Promise<{ installation: Installation; rolloutStatus: RolloutStatus }> {
  const snapshot = await takeSnapshot(reader, statusParts, clock)
  return { installation: theInstallation(snapshot), rolloutStatus: assessRollout(snapshot, clock.now()) }
}

/** The verdict over a look that has the cause parts, with the last log lines of what keeps ending. Throws what `assessRollout` throws. */
export async function explainedStatus(
  snapshot: Snapshot,
  from: { reader: Pick<Reader, 'log'>; clock: Clock },
  logs: LastLines,
): Promise<RolloutStatus> {
  const judged = assessRollout(snapshot, from.clock.now())
  const lines = await logs.of(from, snapshot, judged.why)
  return lines.length === 0 ? judged : assessRollout(snapshot, from.clock.now(), lines)
}

interface Parts {
  components: readonly ComponentStatus[]
  operator: OperatorStatus | undefined
  strategyJob: StrategyJob | undefined
}

/**
 * What keeps it from being done, in the order in which an update gets to it: what KubeVirt says itself, its operator's Deployment,
 * and what Kubernetes says of its components. Whatever kvup believes beyond that is a doubt (`doubts`).
 */
function gaps(snapshot: UpgradeSnapshot, parts: Parts): readonly Gap[] {
  const said = wordGaps(snapshot.kubevirt)
  const isDone = said.length === 0
  return [
    ...said.filter(({ what }) => what === beingDeleted),
    ...operatorGaps(snapshot, parts.operator),
    ...(parts.strategyJob && parts.strategyJob.state !== 'done'
      ? [underWay(`the install strategy of ${parts.strategyJob.version ?? 'the new version'}`)]
      : []),
    ...parts.components.flatMap((component) => componentGap(component, isDone)),
    ...(isDone ? [] : oldPodGaps(snapshot)),
    ...said.filter(({ what }) => what !== beingDeleted),
  ]
}

function operatorGaps(snapshot: UpgradeSnapshot, operator: OperatorStatus | undefined): Gap[] {
  if (!operator)
    return snapshot.snapshot.operators.known
      ? [{ is: 'short', what: 'the Deployment of virt-operator, which is not there' }]
      : []
  const { rolled, leads, ready, updated, desired, version } = operator
  const fresh = isFresh(snapshot)
  const found: Gap[] = []
  if (!rolled)
    found.push(
      underWay(`virt-operator: ${updated < desired ? `${updated}/${desired} updated` : 'an old pod to end'}`),
    )
  if (rolled && leads === false && fresh)
    found.push(underWay('a pod of the current virt-operator to become the leader'))
  if (versionDiffers(snapshot, operator) && (!rolled || fresh)) {
    const said = snapshot.kubevirt.status?.operatorVersion
    found.push(underWay(`virt-operator ${version} to report; the KubeVirt resource still says ${said}`))
  }
  if (ready === 0 && desired > 0)
    found.push({ is: 'short', what: `virt-operator: ${ready}/${desired} ready` })
  return found
}

function componentGap(component: ComponentStatus, isDone: boolean): Gap[] {
  const { name, state, rolled, updated, ready, desired, detail } = component
  if (state === 'current' || (state === 'absent' && isDone)) return []
  if (state === 'absent' || state === 'waiting') return [underWay(`${name}: ${detail}`)]
  const count = rolled ? `${ready}/${desired} ready` : `${updated}/${desired} updated`
  const what = `${name}: ${count}${detail ? `, ${detail}` : ''}`
  return [{ is: rolled ? 'short' : 'under-way', what }]
}

function oldPodGaps(snapshot: UpgradeSnapshot): Gap[] {
  const target = targetId(snapshot)
  const [first, ...others] = infraPods(snapshot).filter((pod) => identifierOf(pod) !== target)
  if (!first) return []
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  return [underWay(`pods of another version to end: ${first.metadata.name}${more}`)]
}

/** What could not be looked at, and was therefore not judged. */
function remarks({ snapshot }: UpgradeSnapshot, operator: OperatorStatus | undefined): string[] {
  const unseen = (['operators', 'deployments', 'daemonsets', 'pods', 'leases'] as const).flatMap((part) => {
    const observed = snapshot[part]
    return observed.known ? [] : [`${part} are not checked: ${observed.why}`]
  })
  const unclear =
    operator && operator.leads === undefined && snapshot.leases.known && itemsOf(snapshot.pods).length > 0
      ? [`kvup cannot see which virt-operator leads: ${operator.leader ?? 'nobody'} is not one of its pods`]
      : []
  return [...unseen, ...unclear]
}

/** What a doubt can be about: also the ids of the warnings that are left of them. */
export const doubtIds = [
  'operator-silent',
  'operator-lease',
  'controller-lease',
  'vms-not-labelled',
  'component-missing',
  'component-not-stamped',
  'component-not-listed',
  'component-runs-nowhere',
  'replicas-missing',
  'old-pods',
  'pods-not-seen',
  'handler-roll-to-come',
  'max-unavailable',
] as const

/**
 * Something that kvup expects beyond what KubeVirt and Kubernetes say, and does not see. It is told and looked at for a while, and it
 * never keeps anything from being done: such rules were read from sources, and another release may have others.
 */
export interface Doubt {
  id: (typeof doubtIds)[number]
  /** What is not as expected, in words that can be read alone. */
  sentence: string
  /** Commands that show it. */
  commands: readonly string[]
}

/** Every doubt over a KubeVirt that says it is done; none while it is at work, for then it is no news. */
function doubts(
  snapshot: UpgradeSnapshot,
  { components, operator }: Omit<Parts, 'strategyJob'>,
): readonly Doubt[] {
  if (!saysDone(snapshot.kubevirt)) return []
  return [
    ...(operator?.rolled === true ? operatorDoubts(snapshot, operator) : []),
    ...components.filter(({ state }) => state === 'absent').map((component) => missing(snapshot, component)),
    ...workloads(snapshot).flatMap((workload) => componentDoubts(snapshot, workload)),
    ...unlistedWorkloads(snapshot).flatMap((workload) => unlisted(snapshot, workload)),
  ]
}

function operatorDoubts(snapshot: UpgradeSnapshot, operator: OperatorStatus): readonly Doubt[] {
  const { leads, ready, desired, version, leader } = operator
  const late = !isFresh(snapshot)
  const found: Doubt[] = []
  if (late && versionDiffers(snapshot, operator))
    found.push({
      id: 'operator-silent',
      sentence: `virt-operator runs ${version}, but the KubeVirt resource still says ${snapshot.kubevirt.status?.operatorVersion}`,
      commands: [kubectl(snapshot, `logs -l kubevirt.io=${operatorName} --tail=20`)],
    })
  if (late && leads === false)
    found.push({
      id: 'operator-lease',
      sentence: `the Lease of virt-operator names ${leader ?? 'nobody'}, which is no current pod of its Deployment`,
      commands: [kubectl(snapshot, `get lease ${operatorName} -o yaml`)],
    })
  if (ready > 0 && ready < desired)
    found.push({
      id: 'replicas-missing',
      sentence: `${operatorName}: ${ready} of ${desired} pods are ready`,
      commands: [kubectl(snapshot, `get pods -l kubevirt.io=${operatorName} -o wide`)],
    })
  return found
}

const missing = (snapshot: UpgradeSnapshot, { name, kind }: ComponentStatus): Doubt => ({
  id: 'component-missing',
  sentence: `there is no ${kind} ${name}, which every known release has`,
  commands: [kubectl(snapshot, 'get daemonsets,deployments')],
})

/** Nothing of one that is rolling: that is no doubt. */
function componentDoubts(snapshot: UpgradeSnapshot, workload: Workload): readonly Doubt[] {
  const { kind, object } = workload
  const { name } = object.metadata
  const { desired, ready, updated, total, observed, enough } = rollCounts(workload)
  if (!observed || total > updated || updated < enough || (kind === 'DaemonSet' && ready < desired)) return []
  const shows = kubectl(snapshot, `get ${kind.toLowerCase()} ${name} -o yaml`)
  const pods = kubectl(snapshot, 'get pods -o wide')
  const found: Doubt[] = []
  if (identifierOf(object) !== targetId(snapshot))
    found.push({
      id: 'component-not-stamped',
      sentence: stampSentence(snapshot, workload),
      commands: [shows],
    })
  if (desired === 0)
    found.push({
      id: 'component-runs-nowhere',
      sentence: `${name} matches no node, so it has no pod`,
      commands: [shows],
    })
  if (kind === 'Deployment' && ready > 0 && ready < desired)
    found.push({
      id: 'replicas-missing',
      sentence: `${name}: ${ready} of ${desired} pods are ready; waiting for ${waitsFor(podsOf(snapshot, workload), undefined, snapshot)}`,
      commands: [pods],
    })
  return [...found, ...podDoubts(snapshot, workload, pods), ...handlerDoubts(snapshot, workload)]
}

function stampSentence({ kubevirt }: UpgradeSnapshot, { object }: Workload): string {
  const { name } = object.metadata
  const [stamped, runs] = [stampedVersion(object), kubevirt.status?.observedKubeVirtVersion]
  return stamped !== undefined && stamped !== runs
    ? `${name} is of ${stamped}, but KubeVirt reports that ${runs} is complete`
    : `${name} lacks the deployment ID that KubeVirt reports as complete`
}

function podDoubts(snapshot: UpgradeSnapshot, workload: Workload, shows: string): readonly Doubt[] {
  const { name } = workload.object.metadata
  const { updated, desired } = rollCounts(workload)
  const old = oldPods(snapshot, workload)
  if (old.length > 0)
    return [
      {
        id: 'old-pods',
        sentence: `${name}: pods of another version still run: ${old.join(', ')}`,
        commands: [shows],
      },
    ]
  const observed = updatedPods(snapshot, workload)
  if (!snapshot.snapshot.pods.known || observed >= Math.min(updated, desired)) return []
  return [
    {
      id: 'pods-not-seen',
      sentence: `${name}: Kubernetes counts ${updated} updated pods, and ${observed} of its pods have the new deployment ID`,
      commands: [shows],
    },
  ]
}

/** Alive, by their stamp of another deployment. */
function oldPods(snapshot: UpgradeSnapshot, workload: Workload): readonly string[] {
  return podsOf(snapshot, workload)
    .filter((pod) => identifierOf(pod) !== undefined && identifierOf(pod) !== targetId(snapshot))
    .map(({ metadata }) => metadata.name)
}

function handlerDoubts(snapshot: UpgradeSnapshot, { kind, object }: Workload): readonly Doubt[] {
  if (kind !== 'DaemonSet' || componentLabel(object) !== 'virt-handler') return []
  const { name } = object.metadata
  const commands = [kubectl(snapshot, `get daemonset ${name} -o yaml`)]
  const roll = rollToCome(object)
  const limit = limitLeft(object, snapshot.kubevirt)
  const found: Doubt[] = []
  if (roll !== undefined)
    found.push({
      id: 'handler-roll-to-come',
      sentence: `virt-operator may update ${name} once more (${roll}), now or in a later release`,
      commands,
    })
  if (limit !== undefined)
    found.push({ id: 'max-unavailable', sentence: `${name} waits for ${limit}`, commands })
  return found
}

/** It bears the stamps, and virt-operator does not name it: it is told only where it is not as it wants to be. */
function unlisted(snapshot: UpgradeSnapshot, workload: Workload): readonly Doubt[] {
  const { desired, ready, updated, total, observed } = rollCounts(workload)
  if (observed && total <= updated && ready >= desired) return []
  const { name } = workload.object.metadata
  return [
    {
      id: 'component-not-listed',
      sentence: `${name} has the labels of virt-operator, which does not list it; ${ready} of ${desired} pods are ready`,
      commands: [kubectl(snapshot, `get ${workload.kind.toLowerCase()} ${name} -o yaml`)],
    },
  ]
}

const kubectl = ({ kubevirt }: UpgradeSnapshot, words: string): string =>
  `kubectl -n ${kubevirt.metadata.namespace ?? ''} ${words}`
