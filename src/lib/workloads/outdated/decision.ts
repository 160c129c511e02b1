import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import type { UpdateRules } from './rules.ts'

/**
 * What the workload updater, and after it the eviction webhook, decide: `migrate`, `migrate-volumes` and `evacuate` move it, `shut-down`
 * lets its pod die, the others leave it where it is.
 */
export type Decision =
  | 'migrate'
  | 'migrate-volumes'
  | 'evacuate'
  | 'shut-down'
  | 'no-methods'
  | 'evict-off'
  | 'denied'
  | 'external'

/** Those that give it the new launcher without an interruption. */
export const moves: ReadonlySet<Decision> = new Set(['migrate', 'migrate-volumes', 'evacuate'])

/** facts 3.2 for the choice of the method, 3.4 for what an eviction becomes. Missing and Unknown LiveMigratable are "no". */
export function decisionOf(vmi: VirtualMachineInstance, rules: UpdateRules): Decision {
  const migratable = condition(vmi, 'LiveMigratable')?.status === 'True'
  if (rules.methods.includes('LiveMigrate')) {
    if (migratable) return 'migrate'
    if (movesItsVolumes(vmi)) return 'migrate-volumes'
  }
  if (rules.methods.includes('Evict')) return evictionOf(effectiveEviction(vmi, rules), migratable)
  return rules.methods.includes('LiveMigrate') ? 'evict-off' : 'no-methods'
}

/** The VMI's own strategy, else the cluster's, else None (facts 1.3). */
export function effectiveEviction(
  { spec }: VirtualMachineInstance,
  { clusterEviction }: Pick<UpdateRules, 'clusterEviction'>,
): string {
  return spec?.evictionStrategy ?? clusterEviction ?? 'None'
}

function evictionOf(strategy: string, migratable: boolean): Decision {
  if (strategy === 'External') return 'external'
  if (strategy === 'LiveMigrate') return migratable ? 'evacuate' : 'denied'
  return strategy === 'LiveMigrateIfPossible' && migratable ? 'evacuate' : 'shut-down'
}

/**
 * Volumes are on their way to other claims, nothing but its storage keeps it from migrating, and every disk that only one node can
 * mount is among them (KV:pkg/virt-controller/watch/volume-migration, ValidateVolumesUpdateMigration).
 */
function movesItsVolumes(vmi: VirtualMachineInstance): boolean {
  const { migratedVolumes = [], volumeStatus = [] } = vmi.status ?? {}
  if (migratedVolumes.length === 0 || condition(vmi, 'StorageLiveMigratable')?.status === 'False')
    return false
  const moved = new Set(migratedVolumes.map(({ volumeName }) => volumeName))
  return volumeStatus.every(
    ({ name, persistentVolumeClaimInfo: claim }) =>
      !isOneNodeOnly(claim && (claim.accessModes ?? [])) || moved.has(name) || isVmState(name),
  )
}

/** TPM and EFI state has a claim of its own, which follows in another way. */
const isVmState = (name = '') => name.startsWith('persistent-state-for')

const shared = new Set(['ReadWriteMany', 'ReadOnlyMany'])

function isOneNodeOnly(accessModes: readonly string[] | undefined): boolean {
  return accessModes !== undefined && !accessModes.some((mode) => shared.has(mode))
}
