import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import { deploymentFailure, unmetCondition } from './conditions.ts'

/** One thing that keeps it from being Settled. */
export interface Gap {
  /**
   * `under-way`: a new state was asked for and is not reached. `short`: all is of the target, but too little is ready.
   * `said`: only the CR's conditions do not say so yet.
   */
  is: 'under-way' | 'short' | 'said'
  /** What is waited for. */
  what: string
}

export const underWay = (what: string): Gap => ({ is: 'under-way', what })

/**
 * What the KubeVirt resource itself lacks for being done, by KubeVirt's own definition: its conditions, its generation seen,
 * target equals observed (facts 1.5, the upstream tests' definition of done). Empty: KubeVirt says that it is done.
 */
export function wordGaps(kubevirt: KubeVirt): readonly Gap[] {
  return [
    ...deletionGap(kubevirt),
    ...targetGap(kubevirt),
    ...generationGap(kubevirt),
    ...conditionGap(kubevirt),
  ]
}

/** KubeVirt says that it is done with what its resource asks for. */
export const saysDone = (kubevirt: KubeVirt): boolean => wordGaps(kubevirt).length === 0

/**
 * virt-operator acts on an edit of the resource and on nothing else: its target is reached, and only its generation or its conditions
 * do not say so yet. Each edit looks so for some seconds, with Available=False (lab 3, 16); a failure is none.
 */
export function actsOnEdit(kubevirt: KubeVirt): boolean {
  const { metadata } = kubevirt
  if (metadata.deletionTimestamp || targetGap(kubevirt).length > 0) return false
  return deploymentFailure(kubevirt) === undefined && !saysDone(kubevirt)
}

/** The sentence of a gap that comes before all others. */
export const beingDeleted = 'KubeVirt to be deleted'

function deletionGap({ metadata }: KubeVirt): readonly Gap[] {
  return metadata.deletionTimestamp ? [underWay(beingDeleted)] : []
}

function targetGap({ status = {} }: KubeVirt): readonly Gap[] {
  if (!status.targetDeploymentID) return [underWay('virt-operator to take the KubeVirt resource on')]
  const same =
    status.targetDeploymentID === status.observedDeploymentID &&
    status.targetKubeVirtVersion === status.observedKubeVirtVersion &&
    status.targetKubeVirtRegistry === status.observedKubeVirtRegistry
  return same ? [] : [underWay(`virt-operator to finish ${status.targetKubeVirtVersion}`)]
}

function generationGap({ metadata, status }: KubeVirt): readonly Gap[] {
  const { generation } = metadata
  const { observedGeneration } = status ?? {}
  if (generation === observedGeneration) return []
  return [
    underWay(
      `virt-operator to act on generation ${generation}; it has finished ${observedGeneration ?? 'none'}`,
    ),
  ]
}

function conditionGap(kubevirt: KubeVirt): readonly Gap[] {
  const unmet = unmetCondition(kubevirt)
  return unmet === undefined ? [] : [{ is: 'said', what: `virt-operator to say that all is well: ${unmet}` }]
}
