import type { Reader } from '../../cluster/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../cluster/kinds/virtual-machines.ts'

/** Which VM. */
export interface MachineRef {
  namespace: string
  name: string
}

/** A VM and what runs of it. */
export interface MachineRead {
  vm: VirtualMachine | undefined
  vmi: VirtualMachineInstance | undefined
}

/** Throws ApiError. */
export async function readMachine(reader: Reader, ref: MachineRef): Promise<MachineRead> {
  const [vm, vmi] = await Promise.all([
    reader.find(VirtualMachines, ref),
    reader.find(VirtualMachineInstances, ref),
  ])
  return {
    vm: vm.is === 'object' ? vm.object : undefined,
    vmi: vmi.is === 'object' ? vmi.object : undefined,
  }
}

export const refOf = ({ metadata }: VirtualMachine | VirtualMachineInstance): MachineRef => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
})

const atATime = 10

/** The same for many, a few at a time, in their order. Throws ApiError. */
export async function readMachines(reader: Reader, refs: readonly MachineRef[]): Promise<MachineRead[]> {
  const found: MachineRead[] = []
  for (let from = 0; from < refs.length; from += atATime)
    found.push(
      ...(await Promise.all(refs.slice(from, from + atATime).map((ref) => readMachine(reader, ref)))),
    )
  return found
}
