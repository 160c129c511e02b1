import { formatDuration } from '../../system/duration.ts'

/** A VM whose turn went wrong for good: its tries are over. */
export interface FailedVm {
  vm: string
  reason: string
}

/** What the rules are held against. Times in ms. */
export interface Situation {
  /** VMs that failed in this run. */
  failed: readonly FailedVm[]
  /** Those of the canary among them. */
  canary: boolean
  maxFailures: number
  /** VMs with more than one launcher alive although no migration of them is under way. */
  split: readonly string[]
  /** Restarted VMs that are not back in time. */
  missing: readonly string[]
  /** For how long nothing that is under way has got any further; undefined: nothing is under way. */
  still?: number | undefined
  stillAtMost: number
}

export interface Stop {
  /** Stable, for scripts. */
  reason: 'two-launchers' | 'did-not-come-back' | 'canary-failed' | 'too-many-failures' | 'update-stalled'
  text: string
}

/** Why no further VM may be moved, the gravest first; undefined: go on. Pure (night W3, W5). */
export function stopOf(situation: Situation): Stop | undefined {
  const { failed, split, missing, canary, maxFailures, still = 0, stillAtMost } = situation
  if (split.length > 0)
    return {
      reason: 'two-launchers',
      text: `${listed(split)}: two launchers run for one VMI, which can destroy its data`,
    }
  if (missing.length > 0)
    return { reason: 'did-not-come-back', text: `${listed(missing)} did not come back after the restart` }
  if (canary && failed.length > 0)
    return { reason: 'canary-failed', text: `the canary failed: ${told(failed)}` }
  if (failed.length >= maxFailures)
    return {
      reason: 'too-many-failures',
      text: `${failed.length} of at most ${maxFailures} failures: ${told(failed)}`,
    }
  if (still > stillAtMost)
    return {
      reason: 'update-stalled',
      text: `nothing that is under way has moved for ${formatDuration(still)}`,
    }
  return undefined
}

const few = 5

function listed(vms: readonly string[]): string {
  return `${vms.slice(0, few).join(', ')}${vms.length > few ? ` and ${vms.length - few} more` : ''}`
}

/** VMs that failed for the same reason are named together: it is mostly one (night W5). */
function told(failed: readonly FailedVm[]): string {
  const groups = [...Map.groupBy(failed, ({ reason }) => reason)]
  return groups.map(([reason, vms]) => `${listed(vms.map(({ vm }) => vm))}: ${reason}`).join('; ')
}
