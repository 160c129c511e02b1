import type { Reader } from '../cluster/cluster.ts'
import { VirtualMachineInstances } from '../cluster/kinds/virtual-machines.ts'

export const outdatedLabel = 'kubevirt.io/outdatedLauncherImage'

export interface WorkloadCount {
  /** All VirtualMachineInstances. */
  instances: number
  /** Those that virt-controller has labelled `kubevirt.io/outdatedLauncherImage`. */
  outdated: number
}

/** Counts instances without keeping them. Throws ApiError. */
export async function countWorkloads(reader: Reader): Promise<WorkloadCount> {
  const [instances, outdated] = await Promise.all([countInstances(reader), outdatedCount(reader)])
  return { instances, outdated }
}

/** VMIs with the outdated label, over all pages. Throws ApiError. */
function outdatedCount(reader: Reader): Promise<number> {
  return countInstances(reader, outdatedLabel)
}

async function countInstances(reader: Reader, labels?: string): Promise<number> {
  let count = 0
  for await (const page of reader.pages(VirtualMachineInstances, { labels })) {
    count += page.items.length
    // The server does not say how many are left where a selector is given.
    if (page.remaining !== undefined) return count + page.remaining
  }
  return count
}
