/** What the eviction webhook of virt-api makes of an eviction of a launcher: facts 3.4. */
export type EvictionVerdict =
  | { is: 'allowed' }
  /** Denied with 429; `evacuates` when the instance is migrated away instead. */
  | { is: 'denied'; why: string; evacuates: boolean }

interface Evicted {
  name: string
  strategy: string | undefined
  migratable: boolean
}

/** Pure. */
export function evictionVerdict({ name, strategy = 'None', migratable }: Evicted): EvictionVerdict {
  const evacuation = `Eviction triggered evacuation of VMI "${name}"`
  if (strategy === 'External') return { is: 'denied', why: evacuation, evacuates: false }
  if (strategy === 'None') return { is: 'allowed' }
  if (migratable) return { is: 'denied', why: evacuation, evacuates: true }
  if (strategy === 'LiveMigrateIfPossible') return { is: 'allowed' }
  const why = `VMI ${name} is configured with an eviction strategy but is not live-migratable`
  return { is: 'denied', why, evacuates: false }
}
