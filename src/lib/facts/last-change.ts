import type { Pod } from '../cluster/kinds/pods.ts'
import type { KubeObject } from '../cluster/object.ts'
import { latest } from './elapsed.ts'
import { itemsOf } from './known.ts'
import { infraPods, operatorPods, type Scene, strategyPods, workloads } from './scene.ts'

/** When something last moved among the components, their pods, the operator, the Job and the CR's conditions. RFC 3339. */
export function lastChange(scene: Scene): string | undefined {
  const { snapshot, kubevirt, operator } = scene
  const pods = [...infraPods(scene), ...operatorPods(scene), ...strategyPods(scene)]
  return latest([
    ...pods.flatMap(podTimes),
    ...itemsOf(snapshot.replicaSets)
      .filter(isKubeVirts(scene))
      .map((set) => set.metadata.creationTimestamp),
    ...itemsOf(snapshot.jobs).flatMap((job) => [job.metadata.creationTimestamp, job.status?.completionTime]),
    ...workloads(scene).flatMap(({ object }) => written(object)),
    ...(operator ? written(operator) : []),
    ...(kubevirt.status?.conditions ?? []).map((c) => c.lastTransitionTime),
    ...specTimes(kubevirt),
  ])
}

/** Others' Deployments may lie in the same namespace. */
function isKubeVirts(scene: Scene): (set: KubeObject) => boolean {
  const { operator } = scene
  const uids = new Set([
    ...workloads(scene).map(({ object }) => object.metadata.uid),
    ...(operator ? [operator.metadata.uid] : []),
  ])
  return ({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uids.has(uid)) ?? false
}

function podTimes({ metadata, status }: Pod): (string | undefined)[] {
  const conditions = (status?.conditions ?? []).map((c) => c.lastTransitionTime)
  return [metadata.creationTimestamp, ...conditions]
}

/** managedFields tell the last write of each manager, status included. */
function written({ metadata }: KubeObject): (string | undefined)[] {
  return [metadata.creationTimestamp, ...(metadata.managedFields ?? []).map((field) => field.time)]
}

/** Of the CR only the spec: its status is rewritten while workloads are counted. */
function specTimes({ metadata }: KubeObject): (string | undefined)[] {
  return (metadata.managedFields ?? [])
    .filter((field) => field.subresource === undefined && field.manager !== 'virt-operator')
    .map((field) => field.time)
}
