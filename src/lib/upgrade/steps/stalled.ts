import { concerns } from '../../facts/cause.ts'
import type { Standing } from '../../facts/standing.ts'
import type { StepState } from '../../procedure/step.ts'

type Waiting = Extract<StepState, { is: 'waiting' }>

/**
 * The waiting state with what stands in its way: a cause of this component, or of anything when none is named. It stalls only
 * when the verdict says so; before that the cause is told as it is.
 */
export function stalledOr(standing: Standing, component: string | undefined, waiting: Waiting): StepState {
  const cause = standing.why.find((c) => component === undefined || concerns(c, component)) ?? standing.why[0]
  if (!cause) return waiting
  const counts = standing.verdict === 'Stalled' || standing.verdict === 'Degraded'
  if (!counts) return { ...waiting, trouble: cause.sentence, remedy: cause.look }
  const since = cause.since ?? standing.since
  return {
    is: 'stalled',
    on: waiting.on,
    why: cause.sentence,
    remedy: cause.look,
    ...(since !== undefined && { since }),
    ...(waiting.progress && { progress: waiting.progress }),
  }
}
