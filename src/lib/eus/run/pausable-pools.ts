import type { Reader } from '../../cluster/cluster.ts'
import { MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import { poolStanding } from '../../facts/openshift/pool-standing.ts'

/** A pool that may stay behind: any but master that has machines (ocp 9.18). */
export interface PausablePool {
  name: string
  uid: string
}

/** By name. Throws ApiError. */
export async function pausablePools(reader: Reader): Promise<readonly PausablePool[]> {
  const pools = await reader.list(MachineConfigPools)
  return pools
    .filter((pool) => !poolStanding(pool).isMaster && poolStanding(pool).machines > 0)
    .map(({ metadata }) => ({ name: metadata.name, uid: metadata.uid ?? '' }))
    .toSorted((a, b) => a.name.localeCompare(b.name))
}

/** Those that are named in their order, then the others. */
export function inOrder<T extends { name: string }>(
  pools: readonly T[],
  order: readonly string[],
): readonly T[] {
  const place = ({ name }: T) => (order.includes(name) ? order.indexOf(name) : order.length)
  return pools.toSorted((a, b) => place(a) - place(b))
}
