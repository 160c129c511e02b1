import type { OwnerReference } from '../../cluster/object.ts'
import type { VirtualMachine, VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'

/** What has to be known of the VM behind a VMI. */
export type Machine = Pick<VirtualMachine, 'spec'>

/** `running: true` counts as Always (night W1), and neither as Halted. */
export function runStrategyOf({ spec }: Machine): string {
  return spec?.runStrategy ?? (spec?.running === true ? 'Always' : 'Halted')
}

/** A VirtualMachine, a replica set or a pool; undefined: a bare VMI. */
export function controllerOf({ metadata }: VirtualMachineInstance): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)
}

export const isOfVm = (vmi: VirtualMachineInstance): boolean => controllerOf(vmi)?.kind === 'VirtualMachine'
