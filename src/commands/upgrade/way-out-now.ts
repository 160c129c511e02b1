import type { Context } from '../../context.ts'
import { lookAtOperator } from '../../lib/upgrade/olm/operator-scene.ts'
import { type WayOut, wayOut } from '../../lib/upgrade/olm/way-out.ts'
import type { UpgradePlan } from '../../lib/upgrade/plan.ts'

/** How an upgrade by OLM can be left, seen once more; undefined by any other method. Throws what the Reader throws, and where the Subscription is gone. */
export async function wayOutNow(
  { cluster }: Pick<Context, 'cluster'>,
  { olm }: Pick<UpgradePlan, 'olm'>,
): Promise<WayOut | undefined> {
  if (olm === undefined) return undefined
  const { reader } = await cluster()
  return wayOut(olm, await lookAtOperator(reader, olm))
}

/** Where it could not be seen. */
export const unseen: WayOut = {
  note: 'there is no way back once an InstallPlan is approved: OLM knows no downgrade',
  remedy: [],
}
