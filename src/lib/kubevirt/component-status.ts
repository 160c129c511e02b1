import {
  componentLabel,
  identifierOf,
  isReady,
  isUpdated,
  operatorPods,
  podsOf,
  saysDone,
  type UpgradeSnapshot,
  stampedVersion,
  targetId,
  type Workload,
  workloads,
} from './installed-components.ts'
import type { Container, DaemonSet, Deployment, Job, Pod } from '../kube/kinds/workload-kinds.ts'
import { spanText } from '../kube/duration.ts'
import { latest, since } from '../kube/timestamps.ts'
import type { KubeVirt } from '../kube/kinds/kubevirt-kinds.ts'
import { compareVersions, versionOf } from '../releases/release-versions.ts'
import { holderOf, operatorLeads } from './lease-holders.ts'
import { operatorOf, theInstallation } from './installation.ts'
import { itemsOf } from '../kube/known.ts'
import type { Node, Taint } from '../kube/kinds/core-kinds.ts'
import { condition, isObserved } from '../kube/object.ts'
import type { FullSnapshot } from './full-snapshot.ts'
import type { Snapshot } from './snapshot.ts'

/** All components, in the order in which virt-operator rolls them; those that every release so far had and that are not there as `absent`. */
export function assessComponents(snapshot: UpgradeSnapshot): ComponentStatus[] {
  const found = workloads(snapshot).map((workload) => assessComponent(snapshot, workload))
  const missing = alwaysThere.filter(
    (name) => readable(snapshot, name) && !found.some((c) => c.name === name),
  )
  const { observedKubeVirtVersion: observed, targetKubeVirtVersion: target } = snapshot.kubevirt.status ?? {}
  const path = observed === target && observed ? 'update' : rolloutPath(observed, target)
  return inRolloutOrder([...found, ...missing.map(absent)], path)
}

function readable({ snapshot }: UpgradeSnapshot, name: string): boolean {
  return name === 'virt-handler' ? snapshot.daemonsets.known : snapshot.deployments.known
}

function absent(name: string): ComponentStatus {
  return {
    name,
    kind: name === 'virt-handler' ? 'DaemonSet' : 'Deployment',
    applied: false,
    rolled: false,
    updated: 0,
    ready: 0,
    desired: 0,
    state: 'absent',
    detail: 'not created yet',
  }
}

export interface ComponentStatus {
  name: string
  kind: 'DaemonSet' | 'Deployment'
  /** Its object carries the target's identifier. */
  applied: boolean
  /** Its spec was seen by Kubernetes, every pod is of it, and virt-operator has nothing more to do to it. */
  rolled: boolean
  /** Pods of the target that are there. */
  updated: number
  ready: number
  desired: number
  version?: string
  image?: string
  state: 'current' | 'rolling' | 'waiting' | 'stalled' | 'absent'
  /** What it waits for; empty when it is current. */
  detail: string
}

/**
 * How far one component is on its way to the target (facts 2.9, 2.11). While KubeVirt is at work all that is known counts: what it
 * stamped, its pods, maxUnavailable. Once KubeVirt says that it is done only Kubernetes' own counts do, for both at once are the
 * definition of done; what kvup believes beyond them is a doubt. Never `stalled`: that takes the causes.
 */
function assessComponent(snapshot: UpgradeSnapshot, workload: Workload): ComponentStatus {
  const { object, kind } = workload
  const isDone = saysDone(snapshot.kubevirt)
  const applied = identifierOf(object) !== undefined && identifierOf(object) === targetId(snapshot)
  const left = applied && !isDone ? leftOver(snapshot, workload) : undefined
  const counts = countsOf(snapshot, workload, isDone)
  const rolled = isDone ? isRolled(counts) : applied && left === undefined && allNew(counts)
  const { updated, ready, desired } = counts
  const current = rolled && (isDone && kind === 'Deployment' ? ready > 0 || desired === 0 : ready >= desired)
  return {
    name: object.metadata.name,
    kind,
    applied,
    rolled,
    updated: Math.min(updated, desired),
    // While it rolls there are more of them than are wanted.
    ready: Math.min(ready, desired),
    desired,
    ...described(workload),
    ...(current
      ? { state: 'current', detail: '' }
      : inTransit(snapshot, workload, { applied: applied || isDone, left })),
  }
}

interface Counts {
  updated: number
  ready: number
  desired: number
  /** Old and new. */
  total: number
  /** So many new pods are enough for being rolled, the others may be missing. */
  enough: number
  /** Kubernetes has seen the spec as it is now: its counts are about this one. */
  observed: boolean
}

/** A DaemonSet that runs nowhere is not finished for virt-operator either (facts 2.9). */
function allNew({ updated, desired, total, observed }: Counts): boolean {
  return observed && updated === desired && total <= desired && desired > 0
}

/** By Kubernetes' own counts: the spec was seen, no old pod is left, and there are new ones. */
function isRolled({ updated, total, enough, observed }: Counts): boolean {
  return observed && total <= updated && updated >= enough
}

/**
 * Pods of the target and Kubernetes' own count of updated ones, whichever is less: the first misses a second roll under
 * the same identifier, the second is of the old spec until that is observed.
 */
function countsOf(snapshot: UpgradeSnapshot, workload: Workload, isDone: boolean): Counts {
  const said = rollCounts(workload)
  if (!snapshot.snapshot.pods.known || (isDone && said.observed)) return said
  const carrying = updatedPods(snapshot, workload)
  const updated = said.observed ? Math.min(carrying, said.updated) : carrying
  return { ...said, updated: Math.min(updated, said.desired) }
}

/** How many of its pods stay and are of the target. Where its template gives them no identifier to tell by, all of a component that has the target's. */
export function updatedPods(snapshot: UpgradeSnapshot, workload: Workload): number {
  const { object } = workload
  const target = targetId(snapshot)
  const { template } = object.spec ?? {}
  const untold = template && identifierOf(template) === undefined && identifierOf(object) === target
  return podsOf(snapshot, workload).filter(
    (pod) =>
      isUpdated(pod, target) ||
      (untold && identifierOf(pod) === undefined && !pod.metadata.deletionTimestamp),
  ).length
}

/** What Kubernetes says of the pods of a DaemonSet or Deployment. */
export function rollCounts(workload: Workload): Counts {
  return workload.kind === 'DaemonSet' ? daemonSetCounts(workload.object) : deploymentCounts(workload.object)
}

function daemonSetCounts(set: DaemonSet): Counts {
  const {
    desiredNumberScheduled: desired = 0,
    updatedNumberScheduled = 0,
    numberReady = 0,
  } = set.status ?? {}
  return {
    updated: updatedNumberScheduled,
    ready: numberReady,
    desired,
    total: desired,
    enough: desired,
    observed: isObserved(set),
  }
}

function deploymentCounts(deployment: Deployment): Counts {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = deployment.status ?? {}
  const desired = desiredReplicas(deployment)
  return {
    updated: updatedReplicas,
    ready: readyReplicas,
    desired,
    total: replicas,
    enough: Math.min(desired, 1),
    observed: isObserved(deployment),
  }
}

function inTransit(
  snapshot: UpgradeSnapshot,
  workload: Workload,
  { applied, left }: { applied: boolean; left: string | undefined },
): Pick<ComponentStatus, 'state' | 'detail'> {
  if (!applied) return { state: 'waiting', detail: 'waits its turn' }
  return { state: 'rolling', detail: waitsFor(podsOf(snapshot, workload), left, snapshot) }
}

const leftOver = ({ kubevirt }: UpgradeSnapshot, { kind, object }: Workload): string | undefined =>
  kind === 'DaemonSet' && componentLabel(object) === 'virt-handler' ? limitLeft(object, kubevirt) : undefined

function described({ object }: Workload): { version?: string; image?: string } {
  const version = stampedVersion(object)
  const image = mainContainer(object.spec?.template?.spec?.containers, object.metadata.name)?.image
  return { ...(version ? { version } : {}), ...(image ? { image } : {}) }
}

function mainContainer(containers: readonly Container[] = [], name: string): Container | undefined {
  return containers.find((container) => container.name === name) ?? containers[0]
}

/** What its pods are at, in words. */
export function waitsFor(pods: readonly Pod[], left: string | undefined, snapshot: UpgradeSnapshot): string {
  const target = targetId(snapshot)
  const starting = pods.find((pod) => isUpdated(pod, target) && !isReady(pod))
  if (starting) return waitingPod(starting, snapshot.at)
  const going = pods.find((pod) => pod.metadata.deletionTimestamp)
  if (going) return `${placeOf(going)} (terminating)`
  const isAnyStamped = pods.some((pod) => isUpdated(pod, target))
  const bare = pods.find((pod) => isReady(pod) && identifierOf(pod) === undefined)
  if (isAnyStamped && bare) return `${placeOf(bare)} (lacks virt-operator's annotations)`
  return left ?? 'its next pod'
}

/**
 * What the roll of a component does at this look, in one phrase: `worker-2 restarting, next worker-1`. The next one is only named where
 * there is no other: Kubernetes chooses in no order that could be foretold. Undefined where no pod is under way.
 */
export function rollingNow(snapshot: Snapshot, name: string, at: Date): string | undefined {
  const { kubevirt, deployment: operator } = theInstallation(snapshot)
  const observed: UpgradeSnapshot = { snapshot, kubevirt, operator, at }
  const workload = workloads(observed).find(({ object }) => object.metadata.name === name)
  if (workload === undefined) return undefined
  const target = targetId(observed)
  const pods = podsOf(observed, workload)
  const isNew = (pod: Pod) => isUpdated(pod, target)
  const starting = places(pods.filter((pod) => isNew(pod) && !isReady(pod)))
  const going = places(pods.filter(isGoing))
  if (workload.kind === 'Deployment') {
    const unplaced = places(pods.filter((pod) => isNew(pod) && !isReady(pod) && !isPlaced(pod)))
    if (unplaced.length > 0) return `${someOf(unplaced)} not scheduled`
    if (starting.length > 0) return `starting on ${someOf(starting)}`
    return going.length > 0 ? `stopping on ${someOf(going)}` : undefined
  }
  const busy = [...new Set([...starting, ...going])]
  if (busy.length === 0) return undefined
  const left = places(pods.filter((pod) => !isNew(pod) && !isGoing(pod))).filter(
    (node) => !busy.includes(node),
  )
  const next = left.length === 0 ? '' : left.length === 1 ? `, next ${left[0]}` : `, then ${left.length} more`
  return `${someOf(busy)} restarting${next}`
}

const isGoing = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

const places = (pods: readonly Pod[]): readonly string[] => [...new Set(pods.map(placeOf))].toSorted()

const someOf = (names: readonly string[]): string =>
  names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(' and ')

function waitingPod(pod: Pod, at: Date): string {
  const age = spanText(since(pod.metadata.creationTimestamp, at) ?? 0)
  const state = waitingReason(pod) ?? (pod.status?.phase === 'Running' ? 'not ready' : 'Pending')
  return `${placeOf(pod)} (${state}, ${age})`
}

function waitingReason({ status = {} }: Pod): string | undefined {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return statuses.map((container) => container.state?.waiting?.reason).find(Boolean)
}

const isPlaced = ({ spec }: Pod): boolean => spec?.nodeName !== undefined

/** A node means more to a person than the random end of a pod's name. */
const placeOf = (pod: Pod): string => pod.spec?.nodeName ?? pod.metadata.name

const newArgument = 'migration-cn-types'
const oldVolume = 'kubevirt-virt-handler-certs'
const supports = 'kubevirt.io/supports-migration-cn-types'

/**
 * The further rolls that virt-operator v1.7 to v1.9 may still make of virt-handler (facts 2.8). Mostly it does not: where it
 * widened maxUnavailable it never comes to the code that adds the argument, and then may in a later release (lab 9). So this is
 * a doubt and no condition of being done. Undefined where nothing is left.
 */
export function rollToCome(daemonset: DaemonSet): string | undefined {
  return daemonset.metadata.labels?.[supports] === 'true' ? certificateRoll(daemonset) : undefined
}

/** Whether that roll is a later release's: on several nodes v1.7 does not come to it (recordings operator-v1.6.0-v1.7.0 and chain-v1.6.0-v1.7.0-v1.8.4; with one node operator-v1.6.0-v1.7.0-1w). */
export const rollComesLater = (daemonsets: readonly DaemonSet[], target: string | undefined): boolean =>
  versionOf(target)?.minor === 7 &&
  daemonsets.some(
    (set) => componentLabel(set) === 'virt-handler' && (set.status?.desiredNumberScheduled ?? 0) > 1,
  )

/** That maxUnavailable of virt-handler is not back at 1 (facts 2.8), in words; undefined where it is, or its owner customized it. */
export function limitLeft(daemonset: DaemonSet, kubevirt: KubeVirt): string | undefined {
  const unavailable = maxUnavailable(daemonset)
  if (unavailable === '1' || customized(kubevirt)) return undefined
  return `virt-operator to reset maxUnavailable from ${unavailable} to 1`
}

/** From the first install on, where that was of v1.7 or later; by a second roll elsewhere. */
export function knowsMigrationNames({ spec }: DaemonSet): boolean {
  const [container] = spec?.template?.spec?.containers ?? []
  return container?.args?.some((arg) => arg.includes(newArgument)) ?? false
}

function certificateRoll(daemonset: DaemonSet): string | undefined {
  if (!knowsMigrationNames(daemonset)) return `its second rollout, for --${newArgument}`
  const { volumes = [] } = daemonset.spec?.template?.spec ?? {}
  return volumes.some((volume) => volume.name === oldVolume)
    ? `its last rollout, without volume ${oldVolume}`
    : undefined
}

/** As it is written; Kubernetes' default is 1. */
function maxUnavailable(daemonset: DaemonSet): string {
  return String(daemonset.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1)
}

function customized(kubevirt: KubeVirt): boolean {
  return (kubevirt.spec?.customizeComponents?.patches ?? []).some(
    ({ resourceName, patch }) => resourceName === 'virt-handler' && patch.includes('maxUnavailable'),
  )
}

const known = [
  'virt-handler',
  'virt-controller',
  'virt-exportproxy',
  'virt-synchronization-controller',
  'virt-template-apiserver',
  'virt-template-controller',
] as const
const last = 'virt-api'

/** What every installation has; the other components depend on version and feature gates. */
const alwaysThere: readonly string[] = ['virt-handler', 'virt-controller', 'virt-api']

/** `update`: virt-handler first, virt-api last. `create` (install, same version, rollback): virt-api first (facts 2.5). */
type RolloutPath = 'update' | 'create'

/** virt-operator's own choice: forward, or where a version cannot be read, it is an update. */
export function rolloutPath(observed: string | undefined, target: string | undefined): RolloutPath {
  if (!observed) return 'create'
  const [from, to] = [versionOf(observed), versionOf(target)]
  return from === undefined || to === undefined || compareVersions(to, from) > 0 ? 'update' : 'create'
}

/** Sorts by the order in which virt-operator rolls; components it does not know come before the one that ends. */
export function inRolloutOrder<T extends { name: string }>(components: readonly T[], path: RolloutPath): T[] {
  return components.toSorted((a, b) => rank(a.name, path) - rank(b.name, path) || (a.name < b.name ? -1 : 1))
}

function rank(name: string, path: RolloutPath): number {
  if (name === last) return path === 'update' ? known.length + 1 : -1
  const place = known.findIndex((component) => name.startsWith(component))
  if (place === 0 && path === 'create') return known.length + 1
  return place < 0 ? known.length : place
}

export interface OperatorStatus {
  version?: string
  image: string
  updated: number
  ready: number
  desired: number
  /** Kubernetes has seen its template, no pod of an older one is left, and there is a new one. */
  rolled: boolean
  /** A pod of the current template holds the Lease. Undefined: it cannot be told. */
  leads: boolean | undefined
  leader?: string
}

/** Where the virt-operator Deployment stands; undefined when there is none to be seen. */
export function assessOperator(observed: UpgradeSnapshot): OperatorStatus | undefined {
  const { operator, snapshot, kubevirt } = observed
  if (!operator) return undefined
  const { image, version } = operatorOf(operator)
  const { updatedReplicas = 0, readyReplicas = 0 } = operator.status ?? {}
  const desired = desiredReplicas(operator)
  const leader = holderOf(snapshot, operator.metadata.name, kubevirt.metadata.namespace)
  return {
    image,
    ...(version === undefined ? {} : { version }),
    // Of the old spec until Kubernetes has seen the new one.
    updated: isObserved(operator) ? Math.min(updatedReplicas, desired) : 0,
    // While it rolls there are more of them than are wanted.
    ready: Math.min(readyReplicas, desired),
    desired,
    rolled: isOperatorRolled(operator),
    leads: operatorLeads(observed),
    ...(leader === undefined ? {} : { leader }),
  }
}

/** For how long a new virt-operator is waited for to take the Lease and to speak, ms; the real one takes up to 23 s (lab 1). */
const silence = 2 * 60_000

/**
 * Its pods became ready a moment ago: that the KubeVirt resource says nothing of it yet, or another process holds the Lease, means
 * nothing so far. False where it cannot be told.
 */
export function isFresh(snapshot: UpgradeSnapshot): boolean {
  const { operator, at } = snapshot
  const turnedReady = operatorPods(snapshot).flatMap(({ status }) =>
    (status?.conditions ?? []).filter((c) => c.type === 'Ready' && c.status === 'True'),
  )
  const turned = turnedReady.length > 0 ? turnedReady : (operator?.status?.conditions ?? [])
  const age = since(latest(turned.map((c) => c.lastTransitionTime)), at)
  return age !== undefined && age < silence
}

/**
 * What virt-operator wrote into the CR contradicts its Deployment: the new one has not spoken yet. Builds that
 * describe themselves otherwise than by a release (`v1.6.3-12-gabc`, a digest) cannot be compared and do not count.
 */
export function versionDiffers(snapshot: UpgradeSnapshot, operator: OperatorStatus): boolean {
  const [said, deployed] = [release(snapshot.kubevirt.status?.operatorVersion), release(operator.version)]
  return said !== undefined && deployed !== undefined && said !== deployed
}

function release(text: string | undefined): string | undefined {
  return text && /^v?\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$/.test(text) ? versionOf(text)?.text : undefined
}

function isOperatorRolled(operator: Deployment): boolean {
  const { replicas = 0, updatedReplicas = 0 } = operator.status ?? {}
  const enough = Math.min(desiredReplicas(operator), 1)
  return isObserved(operator) && replicas === updatedReplicas && updatedReplicas >= enough
}

const desiredReplicas = (operator: Deployment): number => operator.spec?.replicas ?? 1

/** The Job that writes the target's install strategy (facts 2.4); gone a moment after it is done. */
export interface StrategyJob {
  name: string
  version?: string
  state: 'running' | 'done' | 'failed'
  /** RFC 3339. */
  since?: string
}

/** Only the target's, and only while the target is not reached: an older one may stay behind for ever (lab 5). */
export function strategyJob(snapshot: UpgradeSnapshot): StrategyJob | undefined {
  const target = targetId(snapshot)
  if (target === undefined || target === snapshot.kubevirt.status?.observedDeploymentID) return undefined
  const job = itemsOf(snapshot.snapshot.jobs).findLast((j) => identifierOf(j) === target)
  if (!job) return undefined
  const version = stampedVersion(job)
  const from = job.status?.startTime ?? job.metadata.creationTimestamp
  return {
    name: job.metadata.name,
    ...(version ? { version } : {}),
    state: stateOf(job),
    ...(from ? { since: from } : {}),
  }
}

function stateOf({ status }: Job): StrategyJob['state'] {
  if (status?.completionTime || (status?.succeeded ?? 0) > 0) return 'done'
  return status?.conditions?.some((c) => c.type === 'Failed' && c.status === 'True') ? 'failed' : 'running'
}

/** Taints that keep a DaemonSet's pods away or drive them out. */
export function untolerated({ spec }: Node, set: DaemonSet | undefined): readonly Taint[] {
  const tolerations = set?.spec?.template?.spec?.tolerations ?? []
  return (spec?.taints ?? []).filter(
    (taint) => !always(taint) && !tolerations.some((toleration) => tolerates(toleration, taint)),
  )
}

/** Whether the node has every label that the DaemonSet's node selector names. */
export function isSelected({ metadata }: Node, set: DaemonSet | undefined): boolean {
  const wanted = Object.entries(set?.spec?.template?.spec?.nodeSelector ?? {})
  return wanted.every(([key, value]) => metadata.labels?.[key] === value)
}

/** A preference, or what the DaemonSet controller makes each of its pods tolerate. */
function always({ key, effect }: Taint): boolean {
  return effect === 'PreferNoSchedule' || /^node\.kubernetes\.io\/(?!out-of-service)/u.test(key)
}

function tolerates(toleration: Record<string, unknown>, taint: Taint): boolean {
  const { key, operator, value, effect } = toleration
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false
  if (operator === 'Exists') return key === undefined || key === '' || key === taint.key
  return key === taint.key && (value ?? '') === (taint.value ?? '')
}

export const handlerName = 'virt-handler'

/** Nodes that a virt-handler pod sits on. */
export function nodesWithHandler({ nodes, pods }: FullSnapshot): readonly Node[] {
  const held = new Set(
    itemsOf(pods)
      .filter((pod) => componentLabel(pod) === handlerName)
      .map((pod) => pod.spec?.nodeName),
  )
  return itemsOf(nodes).filter(({ metadata }) => held.has(metadata.name))
}

/** virt-handler's DaemonSet; undefined where there is none. */
export function handlerSet({ daemonsets }: FullSnapshot): DaemonSet | undefined {
  return itemsOf(daemonsets).find(({ metadata }) => metadata.name === handlerName)
}

/**
 * Whether the DaemonSet wants a pod there: by node selector and taints. False where it has an affinity, which is not
 * evaluated here; the pods that are there tell then.
 */
export function wantsHandler(node: Node, set: DaemonSet | undefined): boolean {
  const template = set?.spec?.template?.spec
  if (!template || template.affinity?.['nodeAffinity'] !== undefined) return false
  return isSelected(node, set) && untolerated(node, set).length === 0
}

/** Unknown is what a kubelet that has gone silent is given. */
export const isNodeReady = (node: Node): boolean => condition(node, 'Ready')?.status === 'True'

export const nameOfNode = ({ metadata }: Node): string => metadata.name
