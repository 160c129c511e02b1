import { formatDuration } from '../system/duration.ts'
import { type KvupError, timedOut } from '../system/errors.ts'
import type { Step, StepState } from './step.ts'

interface Lateness {
  /** The time of the whole run is over, not only the patience of this step. */
  whole: boolean
  tookMs: number
  /** Why the cluster could not be asked in the end. */
  trouble?: unknown
}

/** Exit 4: what was waited for, why it did not come, and since when. */
export function gaveUp(
  { title }: Step,
  last: Extract<StepState, { is: 'waiting' | 'stalled' }> | undefined,
  { whole, tookMs, trouble }: Lateness,
): KvupError {
  const limit = whole
    ? `the time of the run (${formatDuration(tookMs)}, --timeout) is over`
    : `gave up after ${formatDuration(tookMs)}`
  const parts = [
    `${title}: ${limit}`,
    last && `waiting for ${last.on}${last.since ? ` since ${last.since}` : ''}`,
    last?.is === 'stalled' && last.why,
    trouble instanceof Error && `the cluster could not be asked: ${trouble.message}`,
  ]
  return timedOut('timed-out', parts.filter(Boolean).join('; '), {
    remedy: last?.is === 'stalled' ? last.remedy : undefined,
    cause: trouble,
  })
}
