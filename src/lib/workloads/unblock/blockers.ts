import type { Reader } from '../../cluster/cluster.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import { readAhead } from '../../cluster/read-ahead.ts'
import { isNotFound } from '../../system/errors.ts'
import { isOfVm } from '../outdated/behind.ts'
import { effectiveEviction } from '../outdated/decision.ts'
import { type MachineRef, refOf } from './read-machine.ts'

/** VMs whose eviction is denied because they cannot be migrated, and bare VMIs of that kind, which have no VM to change. */
export interface Blockers {
  machines: readonly MachineRef[]
  bare: readonly MachineRef[]
}

/** Reads all VMIs, page by page, and keeps the names of those that block. Throws ApiError. */
export async function findBlockers(
  reader: Reader,
  { namespace, clusterEviction }: { namespace: string | undefined; clusterEviction: string | undefined },
): Promise<Blockers> {
  const machines: MachineRef[] = []
  const bare: MachineRef[] = []
  try {
    for await (const { items } of readAhead(reader.pages(VirtualMachineInstances, { namespace })))
      for (const vmi of items.filter((one) => isDenied(one, clusterEviction)))
        (isOfVm(vmi) ? machines : bare).push(refOf(vmi))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return { machines, bare }
}

/** facts 3.4. */
function isDenied(vmi: VirtualMachineInstance, clusterEviction: string | undefined): boolean {
  return (
    vmi.status?.phase === 'Running' &&
    effectiveEviction(vmi, { clusterEviction }) === 'LiveMigrate' &&
    condition(vmi, 'LiveMigratable')?.status === 'False'
  )
}
