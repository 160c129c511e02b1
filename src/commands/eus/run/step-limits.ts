import type { RunLimits } from '../../../lib/procedure/run-context.ts'
import type { SeenWindow } from '../see-window.ts'

const ofHop =
  /^(?:gate|channel|request|accepted|platform|control-plane|operator|operator-channel|operator-releases|operator-way)-(?<minor>\d+\.\d+)$/u

/** The minor of the hop that a step belongs to; undefined where every window has such a step, or none. */
const minorOfStep = (id: string): string | undefined => ofHop.exec(id)?.groups?.['minor']

/**
 * The limits as far as they concern this window: steps of the hops that come in windows behind it, or that are `behind` us already, are none of its own. `past`: what
 * --until names is.
 */
export function limitsIn(
  limits: RunLimits,
  {
    window,
    planned: { plan },
    behind,
  }: Pick<SeenWindow, 'window' | 'planned'> & { behind: (id: string) => boolean },
): RunLimits & { past?: string } {
  const own = new Set(window.hops.map(({ minor }) => minor))
  const all = new Set(plan.hops.map(({ minor }) => minor))
  const isElsewhere = (id: string) => {
    const minor = minorOfStep(id)
    return behind(id) || (minor !== undefined && !own.has(minor) && all.has(minor))
  }
  const { until, pauseBefore = [] } = limits
  return {
    ...limits,
    until: until === undefined || isElsewhere(until) ? undefined : until,
    pauseBefore: pauseBefore.filter((id) => !isElsewhere(id)),
    ...(until !== undefined && behind(until) && { past: until }),
  }
}
