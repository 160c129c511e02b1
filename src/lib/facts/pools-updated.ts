import type { MachineConfigPool } from '../cluster/kinds/openshift.ts'
import { condition } from '../cluster/object.ts'

/**
 * What the pools lack to be updated, in words; undefined when all of them are. `Updated` alone is no proof: right after a pool is unpaused it
 * still tells of the configuration before (hco-olm-openshift facts 3.5), so wanted and present configuration are compared as well.
 */
export function poolsMissing(pools: readonly MachineConfigPool[]): string | undefined {
  const missing = pools.flatMap((pool) => {
    const what = missingOf(pool)
    return what === undefined ? [] : [`pool ${pool.metadata.name}, which ${what}`]
  })
  return missing.length === 0 ? undefined : missing.join(', ')
}

function missingOf(pool: MachineConfigPool): string | undefined {
  if (pool.spec?.paused === true) return 'is paused'
  if (is(pool, 'Degraded'))
    return `is degraded: ${condition(pool, 'Degraded')?.message || 'no reason is given'}`
  return (
    nodesMissing(pool) ?? (hasBegun(pool) ? undefined : 'has a new configuration that it has not begun with')
  )
}

const is = (pool: MachineConfigPool, type: string): boolean => condition(pool, type)?.status === 'True'

function nodesMissing(pool: MachineConfigPool): string | undefined {
  const { machineCount = 0, updatedMachineCount = 0, readyMachineCount = 0 } = pool.status ?? {}
  const done = Math.min(updatedMachineCount, readyMachineCount)
  if (done < machineCount) return `has ${done} of ${machineCount} nodes updated and ready`
  return is(pool, 'Updating') || !is(pool, 'Updated') ? 'is updating' : undefined
}

function hasBegun({ spec, status, metadata }: MachineConfigPool): boolean {
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  return isSeen && spec?.configuration?.name === status?.configuration?.name
}
