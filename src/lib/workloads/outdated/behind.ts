import type { OwnerReference } from '../../cluster/object.ts'
import type { VirtualMachine, VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import type { VmPlace } from '../vm-name.ts'

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

/** Where the VM behind it is: a VMI has the name of its VM. */
export function placeBehind(vmi: VirtualMachineInstance): VmPlace {
  const { name, namespace = '' } = vmi.metadata
  return { name: controllerOf(vmi)?.name ?? name, namespace }
}

export const isOfVm = (vmi: VirtualMachineInstance): boolean => controllerOf(vmi)?.kind === 'VirtualMachine'
