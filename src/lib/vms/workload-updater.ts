import type { VirtualMachineInstance } from '../kube/kinds/kubevirt-kinds.ts'
import type { UpdateRules } from './updater-snapshot.ts'
import { condition } from '../kube/object.ts'
import { outdatedLabel } from '../kubevirt/vm-tally.ts'

/** What KubeVirt's own workload updater will do to an outdated VMI. */
export type Fate = 'migrates' | 'restarts' | 'shuts down' | 'is lost' | 'stays'

/** facts 3.2, 3.4 and 3.5. `runStrategy` is that of the VM behind it; undefined for a bare VMI. */
export function fateOf(
  vmi: VirtualMachineInstance,
  rules: UpdateRules,
  runStrategy: string | undefined,
): Fate {
  const decision = decisionOf(vmi, rules)
  if (decision === 'migrate' || decision === 'migrate-volumes' || decision === 'evacuate') return 'migrates'
  return decision === 'shut-down' ? afterShutdown(vmi, runStrategy) : 'stays'
}

/** facts 3.4: only runStrategy Always starts a VM again; sets and pools replace a VMI that is gone. */
export function afterShutdown(vmi: VirtualMachineInstance, runStrategy: string | undefined): Fate {
  if (runStrategy === 'Always') return 'restarts'
  if (runStrategy !== undefined) return 'shuts down'
  const owner = vmi.metadata.ownerReferences?.find((o) => o.controller === true)
  return owner === undefined || owner.kind === 'VirtualMachine' ? 'is lost' : 'restarts'
}

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

/** Why KubeVirt's workload updater counts a VMI among the outdated ones. */
export type Due = 'launcher' | 'hotplug' | 'volumes'

const aborted = 'kubevirt.io/testWorkloadUpdateMigrationAbortion'

/**
 * facts 3.2, getUpdateData: what `status.outdatedVirtualMachineInstanceWorkloads` counts. Undefined: nothing is to be done, or it is
 * not running. `launcher` is the image of virt-controller's `--launcher-image`; undefined: the label is asked instead.
 */
export function dueFor(vmi: VirtualMachineInstance, launcher: string | undefined): Due | undefined {
  if (vmi.status?.phase !== 'Running' || vmi.metadata.deletionTimestamp !== undefined) return undefined
  if (runsAnother(vmi, launcher)) return 'launcher'
  if (isMigrating(vmi) || vmi.metadata.annotations?.[aborted] !== undefined) return undefined
  if (waitsForHotplug(vmi)) return 'hotplug'
  return holds(vmi, 'VolumesChange') ? 'volumes' : undefined
}

/** An empty field means "not outdated": right after a migration it is not known yet. */
function runsAnother({ metadata, status }: VirtualMachineInstance, launcher: string | undefined): boolean {
  if (launcher === undefined) return Object.hasOwn(metadata.labels ?? {}, outdatedLabel)
  const runs = status?.launcherContainerImageVersion ?? ''
  return runs !== '' && runs !== launcher
}

/** HotVCPUChange counts whatever its status is. */
function waitsForHotplug(vmi: VirtualMachineInstance): boolean {
  return (
    condition(vmi, 'HotVCPUChange') !== undefined ||
    holds(vmi, 'HotMemoryChange') ||
    holds(vmi, 'MigrationRequired')
  )
}

const holds = (vmi: VirtualMachineInstance, type: string) => condition(vmi, type)?.status === 'True'

/** Its migration has begun and not ended; a Pending one is not seen here (facts 3.7). */
export function isMigrating({ status }: VirtualMachineInstance): boolean {
  const { startTimestamp, endTimestamp } = status?.migrationState ?? {}
  return startTimestamp !== undefined && endTimestamp === undefined
}
