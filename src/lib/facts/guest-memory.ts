import type { VirtualMachineInstance } from '../cluster/kinds/virtual-machines.ts'
import { quantity } from '../system/quantity.ts'

/** What the guest is given, in bytes: the least that its pod asks for. 0 where it does not say, or has huge pages, which are another resource. */
export function guestMemory({ spec }: VirtualMachineInstance): number {
  const { memory, resources } = (spec?.domain ?? {}) as {
    memory?: { guest?: string; hugepages?: unknown }
    resources?: { requests?: { memory?: string } }
  }
  if (memory?.hugepages) return 0
  return quantity(memory?.guest ?? resources?.requests?.memory) ?? 0
}
