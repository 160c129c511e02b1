import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import { outdatedLabel } from '../../facts/workload-count.ts'

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
