import type { Pod } from '../cluster/kinds/pods.ts'
import type { KubeObject } from '../cluster/object.ts'
import { latest } from './elapsed.ts'
import { itemsOf } from './known.ts'
import type { Scene } from './scene.ts'

/** When something last moved among the components, their pods, the operator, the Job and the CR's conditions. RFC 3339. */
export function lastChange({ snapshot, kubevirt, operator }: Scene): string | undefined {
  return latest([
    ...itemsOf(snapshot.pods).flatMap(podTimes),
    ...itemsOf(snapshot.replicaSets).map((set) => set.metadata.creationTimestamp),
    ...itemsOf(snapshot.jobs).flatMap((job) => [job.metadata.creationTimestamp, job.status?.completionTime]),
    ...itemsOf(snapshot.daemonsets).flatMap(written),
    ...itemsOf(snapshot.deployments).flatMap(written),
    ...(operator ? written(operator) : []),
    ...(kubevirt.status?.conditions ?? []).map((c) => c.lastTransitionTime),
    ...specTimes(kubevirt),
  ])
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
