import type { Context } from '../../context.ts'
import type { Access, Reader } from '../../lib/cluster/cluster.ts'
import { groupOf } from '../../lib/cluster/kind.ts'
import { VirtualMachines } from '../../lib/cluster/kinds/virtual-machines.ts'
import { ApiError } from '../../lib/system/errors.ts'
import { machinesInOrder } from '../../lib/workloads/unblock/find-loans.ts'
import type { MachineRef } from '../../lib/workloads/unblock/read-machine.ts'

/** VMs of all namespaces that `kvup workloads unblock` lent something. Where they may not be read, a warning says so. */
export async function machinesToGiveBack(
  { printer }: Pick<Context, 'printer'>,
  reader: Reader,
): Promise<readonly MachineRef[]> {
  try {
    return await machinesInOrder(reader)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    printer.warn(`whether a VM was lent anything is not known: ${error.message}`)
    return []
  }
}

/** What giving it back takes. */
export function machinesAccess(machines: readonly MachineRef[]): readonly Access[] {
  const { plural: resource } = VirtualMachines
  return machines.length === 0 ? [] : [{ verb: 'patch', group: groupOf(VirtualMachines), resource }]
}

const toldAtMost = 20

/** Said before the question. */
export function machinesText(machines: readonly MachineRef[]): readonly string[] {
  if (machines.length === 0) return []
  const names = machines.slice(0, toldAtMost).map(({ namespace, name }) => `${namespace}/${name}`)
  const more = machines.length > toldAtMost ? `, and ${machines.length - toldAtMost} more` : ''
  return [`given back last, behind the pools: what kvup workloads unblock lent to ${names.join(', ')}${more}`]
}
