import type { Container, Pod } from '../cluster/kinds/pods.ts'
import { elapsed, since } from './elapsed.ts'
import { handlerRollLeft } from './handler-rolls.ts'
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

/** How far one component is on its way to the target (facts 2.9, 2.11). Never `stalled`: that takes the causes. */
export function componentStanding(scene: Scene, workload: Workload): ComponentStanding {
  const target = targetId(scene)
  const { object, kind } = workload
  const pods = podsOf(scene, workload)
  const numbers = numbersOf(workload)
  const updated = scene.snapshot.pods.known
    ? pods.filter((pod) => isUpdated(pod, target)).length
    : numbers.updated
  const observed = (object.status?.observedGeneration ?? 0) >= (object.metadata.generation ?? 0)
  const applied = target !== undefined && identifierOf(object) === target
  const left = applied ? leftOver(scene, workload) : undefined
  const counted = {
    ready: numbers.ready,
    desired: numbers.desired,
    updated: Math.min(updated, observed ? numbers.updated : updated, numbers.desired),
  }
  const rolled = applied && observed && left === undefined && allNew(counted, numbers)
  const current = rolled && counted.ready === counted.desired
  return {
    name: object.metadata.name,
    kind,
    applied,
    rolled,
    ...counted,
    ...described(workload),
    state: current ? 'current' : applied ? 'rolling' : 'waiting',
    detail: current ? '' : applied ? waitsFor(pods, left, scene) : 'its turn has not come',
  }
}

interface Numbers {
  updated: number
  ready: number
  desired: number
  total: number
}

/** A DaemonSet that runs nowhere is not finished for virt-operator either (facts 2.9). */
function allNew(counted: { updated: number; desired: number }, { total, desired }: Numbers): boolean {
  return counted.updated === desired && total <= desired && desired > 0
}

function numbersOf(workload: Workload): Numbers {
  if (workload.kind === 'DaemonSet') {
    const status = workload.object.status ?? {}
    const desired = status.desiredNumberScheduled ?? 0
    return {
      desired,
      updated: status.updatedNumberScheduled ?? 0,
      ready: status.numberReady ?? 0,
      total: desired,
    }
  }
  const { spec, status = {} } = workload.object
  return {
    desired: spec?.replicas ?? 1,
    updated: status.updatedReplicas ?? 0,
    ready: status.readyReplicas ?? 0,
    total: status.replicas ?? 0,
  }
}

function leftOver({ kubevirt }: Scene, { kind, object }: Workload): string | undefined {
  return kind === 'DaemonSet' && componentLabel(object) === 'virt-handler'
    ? handlerRollLeft(object, kubevirt)
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

function waitsFor(pods: readonly Pod[], left: string | undefined, scene: Scene): string {
  const target = targetId(scene)
  const starting = pods.find((pod) => isUpdated(pod, target) && !isReady(pod))
  if (starting) return waitingPod(starting, scene.at)
  const going = pods.find((pod) => pod.metadata.deletionTimestamp)
  if (going) return `${placeOf(going)} (terminating)`
  return left ?? 'its next pod'
}

function waitingPod(pod: Pod, at: Date): string {
  const waiting = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ].find((container) => container.state?.waiting?.reason)?.state?.waiting?.reason
  const age = elapsed(since(pod.metadata.creationTimestamp, at) ?? 0)
  return `${placeOf(pod)} (${waiting ?? (pod.status?.phase === 'Running' ? 'not ready' : 'Pending')}, ${age})`
}

/** A node means more to a person than the random end of a pod's name. */
function placeOf(pod: Pod): string {
  return pod.spec?.nodeName ?? pod.metadata.name
}
