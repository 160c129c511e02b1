import type { VirtualMachineInstanceMigration } from '../../../cluster/kinds/virtual-machines.ts'

/** Limits of the migration controller, from the CR's `configuration.migrations` (facts 1.3). */
export interface MigrationLimits {
  perCluster: number
  perNode: number
}

export function limitsOf(configuration: Record<string, unknown> | undefined): MigrationLimits {
  const set = configuration?.['migrations'] as Record<string, number> | undefined
  return {
    perCluster: set?.['parallelMigrationsPerCluster'] ?? 5,
    perNode: set?.['parallelOutboundMigrationsPerNode'] ?? 2,
  }
}

export function isFinal({ status }: VirtualMachineInstanceMigration): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Those that count against the limits: Pending ones do not (facts 3.2). */
export function isRunning(migration: VirtualMachineInstanceMigration): boolean {
  const { phase = '' } = migration.status ?? {}
  return !isFinal(migration) && phase !== '' && phase !== 'Pending'
}

/** When it ended, or when it was created, in ms. */
export function endOf({ status, metadata }: VirtualMachineInstanceMigration): number {
  return Date.parse(status?.migrationState?.endTimestamp ?? metadata.creationTimestamp ?? '')
}

/** Made by KubeVirt itself: only these are held back, and only their failures count (facts 3.3, lab "Seen with workloads" 16). */
export function isHeldBack({ metadata: { annotations = {} } }: VirtualMachineInstanceMigration): boolean {
  return (
    'kubevirt.io/workloadUpdateMigration' in annotations || 'kubevirt.io/evacuationMigration' in annotations
  )
}

/** 20 s, doubled for each failure in a row among those that are kept: at most 320 s (facts 3.3). In ms; pure. */
export function backOffUntil(finished: readonly VirtualMachineInstanceMigration[]): number {
  const newestFirst = finished.filter(isHeldBack).sort((a, b) => endOf(b) - endOf(a))
  const success = newestFirst.findIndex((m) => m.status?.phase === 'Succeeded')
  const failures = success === -1 ? newestFirst : newestFirst.slice(0, success)
  const [last] = failures
  return last === undefined ? 0 : endOf(last) + 20_000 * 2 ** Math.min(failures.length - 1, 4)
}
