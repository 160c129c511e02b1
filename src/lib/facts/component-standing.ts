import type { DaemonSet, Deployment } from '../cluster/kinds/apps.ts'
import type { Container, Pod } from '../cluster/kinds/pods.ts'
import { formatDuration } from '../system/duration.ts'
import { since } from './elapsed.ts'
import { limitLeft } from './handler-rolls.ts'
import { saysDone } from './kubevirt-word.ts'
import { isReady, isUpdated, podsOf, type Scene, targetId, type Workload } from './scene.ts'
import { componentLabel, identifierOf, stampedVersion } from './stamps.ts'

export interface ComponentStanding {
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
 * definition of done; what kvup believes beyond them is a doubt (`doubts.ts`). Never `stalled`: that takes the causes.
 */
export function componentStanding(scene: Scene, workload: Workload): ComponentStanding {
  const { object, kind } = workload
  const isDone = saysDone(scene.kubevirt)
  const applied = identifierOf(object) !== undefined && identifierOf(object) === targetId(scene)
  const left = applied && !isDone ? leftOver(scene, workload) : undefined
  const counts = countsOf(scene, workload, isDone)
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
      : onItsWay(scene, workload, { applied: applied || isDone, left })),
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
function countsOf(scene: Scene, workload: Workload, isDone: boolean): Counts {
  const said = rollCounts(workload)
  if (!scene.snapshot.pods.known || (isDone && said.observed)) return said
  const carrying = updatedPods(scene, workload)
  const updated = said.observed ? Math.min(carrying, said.updated) : carrying
  return { ...said, updated: Math.min(updated, said.desired) }
}

/** How many of its pods stay and are of the target. Where its template gives them no identifier to tell by, all of a component that has the target's. */
export function updatedPods(scene: Scene, workload: Workload): number {
  const { object } = workload
  const target = targetId(scene)
  const { template } = object.spec ?? {}
  const untold = template && identifierOf(template) === undefined && identifierOf(object) === target
  return podsOf(scene, workload).filter(
    (pod) =>
      isUpdated(pod, target) ||
      (untold && identifierOf(pod) === undefined && !pod.metadata.deletionTimestamp),
  ).length
}

/** What Kubernetes says of the pods of a DaemonSet or Deployment. */
export function rollCounts(workload: Workload): Counts {
  return workload.kind === 'DaemonSet' ? daemonSetCounts(workload.object) : deploymentCounts(workload.object)
}

function daemonSetCounts({ metadata, status = {} }: DaemonSet): Counts {
  const { desiredNumberScheduled: desired = 0, updatedNumberScheduled = 0, numberReady = 0 } = status
  const observed = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  return {
    updated: updatedNumberScheduled,
    ready: numberReady,
    desired,
    total: desired,
    enough: desired,
    observed,
  }
}

function deploymentCounts({ metadata, spec, status = {} }: Deployment): Counts {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status
  const observed = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  const desired = spec?.replicas ?? 1
  return {
    updated: updatedReplicas,
    ready: readyReplicas,
    desired,
    total: replicas,
    enough: Math.min(desired, 1),
    observed,
  }
}

function onItsWay(
  scene: Scene,
  workload: Workload,
  { applied, left }: { applied: boolean; left: string | undefined },
): Pick<ComponentStanding, 'state' | 'detail'> {
  if (!applied) return { state: 'waiting', detail: 'its turn has not come' }
  return { state: 'rolling', detail: waitsFor(podsOf(scene, workload), left, scene) }
}

function leftOver({ kubevirt }: Scene, { kind, object }: Workload): string | undefined {
  return kind === 'DaemonSet' && componentLabel(object) === 'virt-handler'
    ? limitLeft(object, kubevirt)
    : undefined
}

function described({ object }: Workload): { version?: string; image?: string } {
  const version = stampedVersion(object)
  const image = mainContainer(object.spec?.template?.spec?.containers, object.metadata.name)?.image
  return { ...(version ? { version } : {}), ...(image ? { image } : {}) }
}

function mainContainer(containers: readonly Container[] = [], name: string): Container | undefined {
  return containers.find((container) => container.name === name) ?? containers[0]
}

/** What its pods are at, in words. */
export function waitsFor(pods: readonly Pod[], left: string | undefined, scene: Scene): string {
  const target = targetId(scene)
  const starting = pods.find((pod) => isUpdated(pod, target) && !isReady(pod))
  if (starting) return waitingPod(starting, scene.at)
  const going = pods.find((pod) => pod.metadata.deletionTimestamp)
  if (going) return `${placeOf(going)} (terminating)`
  return left ?? 'its next pod'
}

function waitingPod(pod: Pod, at: Date): string {
  const age = formatDuration(since(pod.metadata.creationTimestamp, at) ?? 0)
  const state = waitingReason(pod) ?? (pod.status?.phase === 'Running' ? 'not ready' : 'Pending')
  return `${placeOf(pod)} (${state}, ${age})`
}

function waitingReason({ status = {} }: Pod): string | undefined {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return statuses.map((container) => container.state?.waiting?.reason).find(Boolean)
}

/** A node means more to a person than the random end of a pod's name. */
function placeOf(pod: Pod): string {
  return pod.spec?.nodeName ?? pod.metadata.name
}
