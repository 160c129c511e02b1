import type { Context } from '../../../context.ts'
import type { PlatformStanding } from '../../../lib/facts/openshift/platform-standing.ts'
import type { Part } from '../../../lib/eus/status/window-status.ts'
import { minorOf, readPlatform } from '../../../lib/eus/steps/platform-now.ts'
import type { EusStatusDocument } from '../../../lib/output/views/eus-status.ts'
import { minorsTo } from '../../../lib/releases/platform-minors.ts'
import type { EusPlanningOptions } from '../flags.ts'
import { plannedEus } from '../planned.ts'

/**
 * Where a window stands by the platform and its pools alone: of a saved cluster without its KubeVirt, whose journal, and with it what is borrowed, is not
 * known.
 */
export async function platformAlone(cx: Context, options: EusPlanningOptions): Promise<EusStatusDocument> {
  const cluster = await cx.cluster()
  const { plan } = await plannedEus(cx, { cluster, clock: cx.clock }, options)
  const { standing } = await readPlatform(cluster.reader)
  const { armed, accepted } = standing
  const at = minorOf(standing.target)
  const paused = plan.pools.filter((pool) => pool.paused).map(({ name }) => name)
  const passed = (minorsTo(plan.began, at) ?? []).map((minor) => partOf(minor, minor === at, standing))
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusStatus',
    open: paused.length > 0,
    from: plan.began,
    to: plan.to,
    at: standing.target ?? '',
    ...(plan.unpauseBefore !== undefined && { unpauseBefore: plan.unpauseBefore }),
    parts: [
      ...(paused.length > 0
        ? [{ name: 'pools paused', state: 'done', note: paused.join(', ') } as const]
        : []),
      ...passed,
    ],
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

function partOf(minor: string, isLast: boolean, { state, message }: PlatformStanding): Part {
  const name = `platform ${minor}`
  if (!isLast || state === 'idle') return { name, state: 'done' }
  return { name, state: 'now', note: message }
}
