import type { RunLimits } from '../../../lib/procedure/run-context.ts'
import { compareMinors } from '../../../lib/releases/platform-version.ts'
import type { SeenWindow } from '../see-window.ts'

const ofHop =
  /^(?:gate|channel|request|accepted|platform|control-plane|operator|operator-channel|operator-releases)-(?<minor>\d+\.\d+)$/u

/** The minor of the hop that a step belongs to; undefined where every window has such a step, or none. */
const minorOfStep = (id: string): string | undefined => ofHop.exec(id)?.groups?.['minor']

/**
 * The limits as far as they concern this window: steps of the hops that come in windows behind it, or that lie behind us already, are none of its own. `isPast`: what
 * --until names lies behind us.
 */
export function limitsIn(
  limits: RunLimits,
  { window, planned: { plan } }: Pick<SeenWindow, 'window' | 'planned'>,
): RunLimits & { isPast: boolean } {
  const own = new Set(window.hops.map(({ minor }) => minor))
  const all = new Set(plan.hops.map(({ minor }) => minor))
  const isElsewhere = (id: string) => {
    const minor = minorOfStep(id)
    return minor !== undefined && !own.has(minor) && (all.has(minor) || isBehind(minor))
  }
  const isBehind = (minor: string) =>
    compareMinors(minor, window.began) > 0 && [...all].every((one) => compareMinors(minor, one) < 0)
  const { until, pauseBefore = [] } = limits
  const past = until === undefined ? undefined : minorOfStep(until)
  return {
    ...limits,
    until: until === undefined || isElsewhere(until) ? undefined : until,
    pauseBefore: pauseBefore.filter((id) => !isElsewhere(id)),
    isPast: past !== undefined && isBehind(past),
  }
}
