import type { World } from '../lib/kube/world.ts'
import { Leases } from '../lib/kube/kinds/core-kinds.ts'
import { itemsOf, known } from '../lib/kube/known.ts'
import { lockHolder } from '../lib/kubevirt/lease-holders.ts'
import type { ShownHolder } from '../lib/output/views/report-lines.ts'
import { isDead, leaseName, processOf } from '../lib/engine/lease.ts'
import type { ReadCluster } from '../lib/kube/saved/read-cluster.ts'

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
