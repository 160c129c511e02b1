import type { Totals } from './outdated-vms.ts'
import type { UpdaterContext } from './workload-updater.ts'
import type { World } from '../kube/world.ts'
import { Leases } from '../kube/kinds/core-kinds.ts'
import { itemsOf, known } from '../kube/known.ts'
import { lockHolder, type ShownHolder } from '../kubevirt/lease-holders.ts'
import { isDead, leaseName, processOf } from '../engine/lease.ts'
import type { ReadCluster } from '../kubevirt/snapshot.ts'

/**
 * Who holds kvup's lock in KubeVirt's namespace, and whether its process is gone, where it ran on this very machine. Undefined
 * where nobody holds it, or Leases may not be read.
 */
export async function getLockHolder(
  { world }: { world: Pick<World, 'machine' | 'pid' | 'isAlive'> },
  { cluster, clock, saved }: ReadCluster,
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

/** Who runs kvup now, where VMs stay that it may be about to move: read behind the rows, and only then. */
export async function whoIsAtWork(
  cx: { world: Pick<World, 'machine' | 'pid' | 'isAlive'> },
  snapshot: ReadCluster,
  { totals, context }: { totals: Totals; context: UpdaterContext },
): Promise<ShownHolder | undefined> {
  const { kubevirt, updating } = context
  if (totals.byOutcome.stays === 0 || kubevirt === undefined || updating) return undefined
  const holder = await getLockHolder(cx, snapshot, kubevirt.metadata.namespace ?? '')
  return holder?.gone ? undefined : holder
}
