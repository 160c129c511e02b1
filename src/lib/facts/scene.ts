import type { DaemonSet, Deployment } from '../cluster/kinds/apps.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import type { Pod } from '../cluster/kinds/pods.ts'
import { itemsOf } from './known.ts'
import type { LastLine } from './last-line.ts'
import type { Snapshot } from './snapshot.ts'
import { identifierOf, isOperand, isOperator, strategyPodLabel, componentLabel } from './stamps.ts'

/** All that one judgement looks at: a KubeVirt, its operator's Deployment, what was seen around them, and when. */
export interface Scene {
  readonly snapshot: Snapshot
  readonly kubevirt: KubeVirt
  readonly operator: Deployment | undefined
  readonly at: Date
  /** Of containers that keep ending, where their logs were read. */
  readonly lastLines?: readonly LastLine[]
}

/** A DaemonSet or Deployment of the install strategy. */
export type Workload = { kind: 'DaemonSet'; object: DaemonSet } | { kind: 'Deployment'; object: Deployment }

export function targetId({ kubevirt }: Scene): string | undefined {
  return kubevirt.status?.targetDeploymentID
}

/** A pod that counts: ended ones (an evicted pod that nobody removed) do not. */
function isAlive(pod: Pod): boolean {
  return pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded'
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false
}

/** Pods of components that live, going ones included. */
export function infraPods({ snapshot }: Scene): readonly Pod[] {
  return itemsOf(snapshot.pods).filter((pod) => isComponentPod(pod) && isAlive(pod))
}

export function operatorPods({ snapshot }: Scene): readonly Pod[] {
  return itemsOf(snapshot.pods).filter((pod) => isOperator(pod) && isAlive(pod))
}

/** Of the Job that dumps the install strategy. */
export function strategyPods({ snapshot }: Scene): readonly Pod[] {
  return itemsOf(snapshot.pods).filter((pod) => componentLabel(pod) === strategyPodLabel)
}

/** The pods of one DaemonSet or Deployment, by their controller. */
export function podsOf(scene: Scene, { kind, object }: Workload): readonly Pod[] {
  const name = object.metadata.name
  return infraPods(scene).filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find((reference) => reference.controller)
    return kind === 'DaemonSet' ? owner?.name === name : owner?.name.replace(/-[^-]+$/, '') === name
  })
}

/** Stays (is not going away) and was made for the target. */
export function isUpdated(pod: Pod, target: string | undefined): boolean {
  return target !== undefined && identifierOf(pod) === target && !pod.metadata.deletionTimestamp
}

function isComponentPod(pod: Pod): boolean {
  return isOperand(pod) && componentLabel(pod) !== strategyPodLabel
}
