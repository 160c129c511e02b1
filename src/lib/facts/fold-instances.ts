import type { Reader } from '../cluster/cluster.ts'
import { VirtualMachineInstances } from '../cluster/kinds/virtual-machines.ts'
import { readAhead } from '../cluster/read-ahead.ts'
import { emptyTally, type InstanceTally, tallyInstance } from './instance-tally.ts'

export interface FoldedInstances {
  tally: InstanceTally
  /** With at least one VMI. */
  namespaces: ReadonlySet<string>
}

/** Reads every VMI once and keeps none: a page is added up while the next one is on its way. Throws ApiError. */
export async function foldInstances(reader: Reader): Promise<FoldedInstances> {
  const tally = emptyTally()
  const namespaces = new Set<string>()
  for await (const { items } of readAhead(reader.pages(VirtualMachineInstances)))
    for (const vmi of items) {
      tallyInstance(tally, vmi)
      namespaces.add(vmi.metadata.namespace ?? '')
    }
  return { tally, namespaces }
}
