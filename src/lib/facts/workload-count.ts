import type { Reader } from '../cluster/cluster.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../cluster/kinds/virtual-machines.ts'

export const outdatedLabel = 'kubevirt.io/outdatedLauncherImage'

export interface WorkloadCount {
  /** All VirtualMachineInstances. */
  instances: number
  /** Those that virt-controller has labelled `kubevirt.io/outdatedLauncherImage`. */
  outdated: number
}

/**
 * Counts without keeping. One page is counted in passing; of more, the server says how many are left, and the outdated
 * ones are listed by their label. Throws ApiError.
 */
export async function countWorkloads(reader: Reader): Promise<WorkloadCount> {
  let [instances, outdated] = [0, 0]
  for await (const { items, remaining } of reader.pages(VirtualMachineInstances)) {
    instances += items.length
    outdated += items.filter(isOutdated).length
    if (remaining) return { instances: instances + remaining, outdated: await countOutdated(reader) }
  }
  return { instances, outdated }
}

async function countOutdated(reader: Reader): Promise<number> {
  let count = 0
  for await (const { items } of reader.pages(VirtualMachineInstances, { labels: outdatedLabel }))
    count += items.length
  return count
}

function isOutdated({ metadata }: VirtualMachineInstance): boolean {
  return Object.hasOwn(metadata.labels ?? {}, outdatedLabel)
}
