import type { Standing } from '../../facts/standing.ts'
import type { StepState } from '../../procedure/step.ts'

type Waiting = Extract<StepState, { is: 'waiting' }>

/** The waiting state, or what stands in its way: a terminal cause of this component, or of anything when it names none. */
export function stalledOr(standing: Standing, component: string | undefined, waiting: Waiting): StepState {
  if (standing.verdict !== 'Stalled' && standing.verdict !== 'Degraded') return waiting
  const cause =
    standing.why.find((c) => component === undefined || c.component === component) ?? standing.why[0]
  if (!cause) return waiting
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
