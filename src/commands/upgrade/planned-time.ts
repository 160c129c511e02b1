import { rolloutTimes } from '../../lib/facts/rollout-times.ts'
import { takeSnapshot } from '../../lib/facts/snapshot.ts'
import type { RehearsedStep } from '../../lib/procedure/rehearse.ts'
import type { ReadContext, Step } from '../../lib/procedure/step.ts'
import { idWithout } from '../../lib/upgrade/hop-row.ts'
import { journalTimes } from '../../lib/upgrade/journal-times.ts'
import { type TimeRange, timeRange } from '../../lib/upgrade/time-range.ts'
import type { Planned } from './planned.ts'

/** How long the steps that are still to be gone take on this cluster; undefined where none is left. */
export async function plannedTime(
  { plan, procedure }: Planned,
  reading: ReadContext,
  rehearsed: readonly RehearsedStep[],
): Promise<TimeRange | undefined> {
  const { reader, clock, journal } = reading
  const done = new Set(rehearsed.filter(({ state }) => state === 'already-so').map(({ id }) => id))
  if (rehearsed.every(({ id }) => done.has(id))) return undefined
  const { namespace } = plan.owner.ref
  const [steps, snapshot, entries] = await Promise.all([
    procedure.steps(reading),
    takeSnapshot(reader, ['daemonsets', 'pods'], clock, namespace),
    journal.entries(),
  ])
  const hops = plan.path?.hops ?? []
  const left = steps.filter(({ id }) => !done.has(id)).map((step) => timedIn(step, hops))
  return timeRange(left, rolloutTimes(snapshot, plan.to), journalTimes(entries))
}

/** The steps with the time that each takes. */
export function withTimes(steps: readonly RehearsedStep[], range: TimeRange | undefined) {
  return steps.map((step) => {
    const time = range?.steps.get(step.id)
    return time === undefined ? step : { ...step, time }
  })
}

const timedIn = (step: Step, hops: readonly string[]) => ({ ...step, base: idWithout(step.id, hops) })
