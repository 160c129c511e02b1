import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import { type Condition, condition } from '../cluster/object.ts'
import { earliest, since } from './elapsed.ts'
import { shorten } from '../system/shorten.ts'

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
