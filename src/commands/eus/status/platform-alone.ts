import type { Context } from '../../../context.ts'
import { windowIn } from '../../../lib/eus/plan/window-in.ts'
import { readPlatform } from '../../../lib/eus/steps/read-platform.ts'
import type { EusStatusDocument } from '../../../lib/output/views/eus-status.ts'
import type { EusPlanningOptions } from '../flags.ts'
import { plannedEus } from '../planned.ts'
import { partsByPlatform } from './parts-by-platform.ts'

/**
 * Where a window stands by the platform and its pools alone: of a saved cluster without its KubeVirt, whose journal, and with it what is borrowed, is not
 * known.
 */
export async function platformAlone(cx: Context, options: EusPlanningOptions): Promise<EusStatusDocument> {
  const cluster = await cx.cluster()
  const { plan, evidence } = await plannedEus(cx, { cluster, clock: cx.clock }, options)
  const window = windowIn(evidence)
  const { standing } = await readPlatform(cluster.reader)
  const { armed, accepted } = standing
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusStatus',
    open: window !== undefined,
    from: plan.began,
    to: plan.to,
    at: standing.target ?? '',
    ...(plan.unpauseBefore !== undefined && { unpauseBefore: plan.unpauseBefore }),
    parts: partsByPlatform(window, plan.began, standing),
    steps: [],
    borrowed: [],
    borrowedText: '',
    ...(armed && {
      armed: { ...armed, by: 'somebody else', ...(accepted.is === 'no' && { why: accepted.message }) },
    }),
    unknown: ['what is borrowed: there is no KubeVirt, and so no journal', ...plan.unknown],
    next: ['kvup eus plan'],
  }
}
