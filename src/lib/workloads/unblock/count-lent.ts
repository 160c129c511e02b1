import type { Reader } from '../../cluster/cluster.ts'
import { VirtualMachines } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import { loanLabel } from './vm-loan.ts'

/** How many VMs have what `kvup workloads unblock` lent them, by one list that the server narrows; a damaged note counts too. Throws ApiError. */
export async function countLent(reader: Reader): Promise<number> {
  let count = 0
  try {
    for await (const { items } of reader.pages(VirtualMachines, { labels: loanLabel })) count += items.length
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return count
}
