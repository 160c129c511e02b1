import type { Context } from '../../../context.ts'
import { holderText, type ShownHolder } from '../../../lib/output/views/lock-holder.ts'
import type { Surroundings } from '../../../lib/workloads/outdated/surroundings.ts'
import type { Totals } from '../../../lib/workloads/outdated/totals.ts'
import type { LookedAt } from '../../reader-for.ts'
import { whoHoldsLock } from '../../who-holds-lock.ts'

/** Who runs kvup now, where VMs stay that it may be about to move: read behind the rows, and only then. */
export async function whoIsAtWork(
  cx: Pick<Context, 'world'>,
  looked: LookedAt,
  { totals, surroundings }: { totals: Totals; surroundings: Surroundings },
): Promise<ShownHolder | undefined> {
  const { kubevirt, updating } = surroundings
  if (totals.byFate.stays === 0 || kubevirt === undefined || updating) return undefined
  const holder = await whoHoldsLock(cx, looked, kubevirt.metadata.namespace ?? '')
  return holder?.gone ? undefined : holder
}

/** For the remarks: a command that changes anything would be refused meanwhile. `asOf` in RFC 3339. */
export function atWorkText(holder: ShownHolder, asOf: string): string {
  return `kvup is at work, and VMs that stay may be waiting for their turn: ${holderText(holder, asOf)}`
}
