import type { Reader } from '../../cluster/cluster.ts'
import { type MachineConfigPool, MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import { poolStanding } from '../../facts/openshift/pool-standing.ts'
import { poolRolls } from '../plan/time.ts'

/** A pool that may stay behind: any but master that has machines (ocp 9.18). */
export interface PausablePool {
  name: string
  uid: string
  /** How long its machines take to roll, so many at a time as it allows: ms, without what holds a drain up. */
  rollsFor: number
}

/** By name. Throws ApiError. */
export async function pausablePools(reader: Reader): Promise<readonly PausablePool[]> {
  const pools = await reader.list(MachineConfigPools)
  return pools
    .filter((pool) => !poolStanding(pool).isMaster && poolStanding(pool).machines > 0)
    .map(pausable)
    .toSorted((a, b) => a.name.localeCompare(b.name))
}

/** As a step takes it. */
export function pausable(pool: MachineConfigPool): PausablePool {
  const { machines } = poolStanding(pool)
  const { low, high } = poolRolls([{ machines, maxUnavailable: pool.spec?.maxUnavailable ?? 1 }])
  return { name: pool.metadata.name, uid: pool.metadata.uid ?? '', rollsFor: (low + high) / 2 }
}

/** Those that are named in their order, then the others. */
export function inOrder<T extends { name: string }>(
  pools: readonly T[],
  order: readonly string[],
): readonly T[] {
  const place = ({ name }: T) => (order.includes(name) ? order.indexOf(name) : order.length)
  return pools.toSorted((a, b) => place(a) - place(b))
}
