import type { World } from '../context.ts'
import { Leases } from '../lib/cluster/kinds/core.ts'
import { itemsOf, known } from '../lib/facts/known.ts'
import { lockHolder } from '../lib/facts/lock-holder.ts'
import type { ShownHolder } from '../lib/output/views/lock-holder.ts'
import { isDead, processOf } from '../lib/procedure/lease-holder.ts'
import { leaseName } from '../lib/procedure/lease-errors.ts'
import type { LookedAt } from './reader-for.ts'

/**
 * Who holds kvup's lock in KubeVirt's namespace, and whether its process is gone, where it ran on this very machine. Undefined
 * where nobody holds it, or Leases may not be read.
 */
export async function whoHoldsLock(
  { world }: { world: Pick<World, 'machine' | 'pid' | 'isAlive'> },
  { cluster, clock, saved }: LookedAt,
  namespace: string,
): Promise<ShownHolder | undefined> {
  const leases = itemsOf(await known(cluster.reader.list(Leases, { namespace, name: leaseName })))
  const found = lockHolder(
    leases.find(({ metadata }) => metadata.name === leaseName),
    clock.now(),
  )
  if (found === undefined) return undefined
  const process = saved || !isDead(found.holder, world) ? undefined : processOf(found.holder)
  return { ...found, ...(process && { gone: process }) }
}
