import type { KubeVirt } from '../kube/kinds/kubevirt-kinds.ts'
import { type Condition, condition } from '../kube/object.ts'
import { earliest, since } from '../kube/timestamps.ts'
import { shorten } from '../kube/text.ts'

/** How long DeploymentFailed may last before it counts: it is retried, and was seen to heal (facts 1.5, lab 2). */
const failurePatience = 60_000

export interface JudgedCondition {
  type: string
  status: string
  reason?: string
  message?: string
  /** RFC 3339; also moves when only the message changes (facts 1.5). */
  since?: string
  /** `expected`: looks bad, and is how an update looks (all three True). `transient`: bad, but not for long yet. */
  judged: 'good' | 'expected' | 'transient' | 'bad'
}

const wanted: Readonly<Record<string, 'True' | 'False'>> = {
  Available: 'True',
  Progressing: 'False',
  Degraded: 'False',
  Created: 'True',
}

/** The CR's conditions with their meaning (facts 1.5): what they say literally is not what they mean. */
export function judgedConditions(kubevirt: KubeVirt, at: Date): JudgedCondition[] {
  return (kubevirt.status?.conditions ?? []).map((found) => judged(found, kubevirt, at))
}

function judged(found: Condition, kubevirt: KubeVirt, at: Date): JudgedCondition {
  return {
    type: found.type,
    status: found.status,
    ...(found.reason && { reason: found.reason }),
    ...(found.message && { message: shorten(found.message) }),
    ...(found.lastTransitionTime && { since: found.lastTransitionTime }),
    judged: judge(found, kubevirt, at),
  }
}

/** The first condition that is not as it is when all is well, in words; undefined when all are. */
export function unmetCondition(kubevirt: KubeVirt): string | undefined {
  for (const [type, status] of Object.entries(wanted)) {
    const found = condition(kubevirt, type)
    if (found?.status !== status)
      return found ? `${type}=${found.status} (${found.reason ?? 'no reason'})` : `${type} is not set`
  }
  const synchronized = condition(kubevirt, 'Synchronized')
  return synchronized?.status === 'False'
    ? `Synchronized=False (${synchronized.reason ?? 'no reason'})`
    : undefined
}

/** DeploymentFailed, since when and with which text; undefined when it is not there. */
export function deploymentFailure(kubevirt: KubeVirt): { message: string; since?: string } | undefined {
  const failed = (kubevirt.status?.conditions ?? []).filter((c) => c.reason === 'DeploymentFailed')
  if (failed.length === 0) return undefined
  const from = earliest(failed.map((c) => c.lastTransitionTime))
  return { message: failed[0]?.message ?? '', ...(from === undefined ? {} : { since: from }) }
}

/** It lasts longer than a retry explains. */
export function failurePersists(kubevirt: KubeVirt, at: Date): boolean {
  const failure = deploymentFailure(kubevirt)
  return failure !== undefined && (since(failure.since, at) ?? 0) >= failurePatience
}

function judge(found: Condition, kubevirt: KubeVirt, at: Date): JudgedCondition['judged'] {
  const good = found.type === 'Synchronized' ? found.status === 'True' : found.status === wanted[found.type]
  if (found.reason === 'DeploymentFailed') return failurePersists(kubevirt, at) ? 'bad' : 'transient'
  if (good || wanted[found.type] === undefined) return 'good'
  return found.reason?.endsWith('InProgress') ? 'expected' : 'bad'
}

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
