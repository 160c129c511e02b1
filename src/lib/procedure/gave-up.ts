import { formatDuration } from '../system/duration.ts'
import { type KvupError, timedOut } from '../system/errors.ts'
import { remedyOf } from './refused.ts'
import type { Step, StepState } from './step.ts'

type Waiting = Extract<StepState, { is: 'waiting' | 'stalled' }>

interface Lateness {
  /** The time of the whole run is over, not only the patience of this step. */
  whole: boolean
  tookMs: number
  /** Now, in ms since the epoch. */
  at: number
  /** Why the cluster could not be asked in the end. */
  trouble?: unknown
  /** Why the change could not be made, as the last try ended. */
  failure?: unknown
}

/** Exit 4: what was waited for, why it did not come, and since when. */
export function gaveUp({ title }: Step, last: Waiting | undefined, late: Lateness): KvupError {
  const { whole, tookMs, trouble, failure } = late
  const limit = whole
    ? `the time of the run (${formatDuration(tookMs)}, --timeout) is over`
    : `gave up after ${formatDuration(tookMs)}`
  const lines = [
    `${title}: ${limit}`,
    last && waitedFor(last, late),
    failure instanceof Error && `the last try to change it failed: ${failure.message}`,
    trouble instanceof Error && `the cluster could not be asked: ${trouble.message}`,
  ]
  return timedOut('timed-out', lines.filter(Boolean).join('\n'), {
    remedy: last?.remedy ?? remedyOf(failure),
    cause: trouble ?? failure,
  })
}

function waitedFor(state: Waiting, { at }: Lateness): string {
  const span = state.since === undefined ? '' : ` for ${formatDuration(at - Date.parse(state.since))}`
  if (state.is === 'stalled') return `stalled${span} on ${state.on}: ${state.why}`
  return `waiting${span} for ${state.on}${state.trouble === undefined ? '' : `; ${state.trouble}`}`
}
