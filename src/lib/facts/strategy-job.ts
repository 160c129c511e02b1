import type { Job } from '../cluster/kinds/apps.ts'
import { itemsOf } from './known.ts'
import { type Scene, targetId } from './scene.ts'
import { identifierOf, stampedVersion } from './stamps.ts'

/** The Job that writes the target's install strategy (facts 2.4); gone a moment after it is done. */
export interface StrategyJob {
  name: string
  version?: string
  state: 'running' | 'done' | 'failed'
  /** RFC 3339. */
  since?: string
}

/** Only the target's, and only while the target is not reached: an older one may stay behind for ever (lab 5). */
export function strategyJob(scene: Scene): StrategyJob | undefined {
  const target = targetId(scene)
  if (target === undefined || target === scene.kubevirt.status?.observedDeploymentID) return undefined
  const job = itemsOf(scene.snapshot.jobs).findLast((j) => identifierOf(j) === target)
  if (!job) return undefined
  const version = stampedVersion(job)
  const since = job.status?.startTime ?? job.metadata.creationTimestamp
  return {
    name: job.metadata.name,
    ...(version ? { version } : {}),
    state: stateOf(job),
    ...(since ? { since } : {}),
  }
}

function stateOf({ status }: Job): StrategyJob['state'] {
  if (status?.completionTime || (status?.succeeded ?? 0) > 0) return 'done'
  return status?.conditions?.some((c) => c.type === 'Failed' && c.status === 'True') ? 'failed' : 'running'
}
