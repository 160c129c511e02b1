import type { Loan } from '../../procedure/journal.ts'
import type { PausablePool } from './pausable-pools.ts'

/** Loans of pools that are gone, or have lost their machines since: they are given back without a drain to judge or to wait for. */
export function poolsWithoutMachines(
  loans: readonly Loan[],
  pools: readonly PausablePool[],
): readonly Loan[] {
  const names = new Set(pools.map(({ name }) => `pool-paused/${name}`))
  return loans.filter(({ id }) => id.startsWith('pool-paused/') && !names.has(id))
}
