import type { Kind } from '../kind.ts'
import type { Condition, KubeObject } from '../object.ts'

/** What moves or copies the disks of VMs. */
export interface DataJob extends KubeObject {
  /** The VM, for all but DataVolumes. */
  spec?: {
    source?: { kind?: string; name?: string }
    target?: { kind?: string; name?: string }
  }
  status?: {
    phase?: string
    /** VirtualMachineRestore. */
    complete?: boolean
    /** VirtualMachineSnapshot. */
    readyToUse?: boolean
    conditions?: Condition[]
  }
}

const job = (apiVersion: string, kind: string): Kind<DataJob> => ({
  apiVersion,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
})

export const VirtualMachineSnapshots = job('snapshot.kubevirt.io/v1beta1', 'VirtualMachineSnapshot')
export const VirtualMachineRestores = job('snapshot.kubevirt.io/v1beta1', 'VirtualMachineRestore')
export const VirtualMachineClones = job('clone.kubevirt.io/v1beta1', 'VirtualMachineClone')
export const VirtualMachineExports = job('export.kubevirt.io/v1beta1', 'VirtualMachineExport')
export const VirtualMachineBackups = job('backup.kubevirt.io/v1alpha1', 'VirtualMachineBackup')
export const DataVolumes = job('cdi.kubevirt.io/v1beta1', 'DataVolume')
