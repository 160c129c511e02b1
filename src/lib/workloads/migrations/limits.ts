import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'

/** How many migrations run at a time. */
export interface MigrationLimits {
  perCluster: number
  /** Away from one node. */
  perNode: number
}

/** From the KubeVirt CR, which has what HyperConverged passes on; defaults are KubeVirt's own (facts 1.3). */
export function migrationLimits({ spec }: KubeVirt): MigrationLimits {
  const set = (spec?.configuration?.['migrations'] ?? {}) as { [limit: string]: unknown }
  const limit = (name: string, otherwise: number) => {
    const value = set[name]
    return typeof value === 'number' ? value : otherwise
  }
  return {
    perCluster: limit('parallelMigrationsPerCluster', 5),
    perNode: limit('parallelOutboundMigrationsPerNode', 2),
  }
}
