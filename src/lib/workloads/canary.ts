import type { Reader } from '../cluster/cluster.ts'
import { VirtualMachineInstances } from '../cluster/kinds/virtual-machines.ts'
import { condition } from '../cluster/object.ts'
import { outdatedOnes } from '../facts/workload-count.ts'
import { vmName } from './vm-name.ts'

/** An outdated VMI that can migrate and did not fail to the last time, `namespace/name`: to be moved by hand, before all the others are (contract "Loans"). */
export async function findCanary(reader: Reader): Promise<string | undefined> {
  for await (const { items } of reader.pages(VirtualMachineInstances, outdatedOnes)) {
    const found = items.find(
      (vmi) =>
        condition(vmi, 'LiveMigratable')?.status === 'True' && vmi.status?.migrationState?.failed !== true,
    )
    if (found) return vmName(found)
  }
  return undefined
}
