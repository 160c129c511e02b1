import type { Context } from '../../../context.ts'
import type { PlatformStanding } from '../../../lib/facts/openshift/platform-standing.ts'
import type { EusStatusDocument } from '../../../lib/output/views/eus-status.ts'
import type { LookedAt } from '../../reader-for.ts'
import { whoHoldsLock } from '../../who-holds-lock.ts'

type UnderWay = Pick<EusStatusDocument, 'leaves' | 'running'>

/** What is going on at this moment: the platform between two releases, and a kvup that is at work. */
export async function underWay(
  cx: Context,
  { version, target }: PlatformStanding,
  { looked, namespace }: { looked: LookedAt; namespace: string },
): Promise<UnderWay> {
  const running = await whoHoldsLock(cx, looked, namespace)
  return {
    ...(version !== undefined && version !== target && { leaves: version }),
    ...(running && { running: { ...running, asOf: cx.clock.now().toISOString() } }),
  }
}
