import type { Reader } from '../cluster/cluster.ts'
import { VirtualMachines } from '../cluster/kinds/virtual-machines.ts'
import { condition } from '../cluster/object.ts'
import { readAhead } from '../cluster/read-ahead.ts'
import type { MachineTally } from './evidence.ts'
import { add, nobody } from './named.ts'

/** Reads every VM once and keeps the names of a few. Throws ApiError. */
export async function foldMachines(reader: Reader): Promise<MachineTally> {
  const tally: MachineTally = { total: 0, restartRequired: nobody() }
  for await (const { items } of readAhead(reader.pages(VirtualMachines)))
    for (const vm of items) {
      tally.total++
      if (condition(vm, 'RestartRequired')?.status === 'True')
        add(tally.restartRequired, `${vm.metadata.namespace}/${vm.metadata.name}`)
    }
  return tally
}
