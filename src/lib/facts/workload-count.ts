import type { Reader, Where } from '../cluster/cluster.ts'
import { metadataOf } from '../cluster/kind.ts'
import { VirtualMachineInstances } from '../cluster/kinds/virtual-machines.ts'
import type { KubeObject } from '../cluster/object.ts'

export const outdatedLabel = 'kubevirt.io/outdatedLauncherImage'

/**
 * A page behind the first may be read from etcd, where all VMIs have to be looked at to find the labelled ones: 2 to 4 s for 10,000,
 * on an API server (v1.35.4) that had stopped to keep what it had five minutes earlier. Few have as many as this.
 */
const atOnce = 2000

/** The outdated ones. */
export const outdatedOnes: Where = { labels: outdatedLabel, pageSize: atOnce }

export interface WorkloadCount {
  /** All VirtualMachineInstances. */
  instances: number
  /** Those that virt-controller has labelled `kubevirt.io/outdatedLauncherImage`. */
  outdated: number
}

const metadataOfInstances = metadataOf(VirtualMachineInstances)

/**
 * Counts without keeping, and without spec and status. One page is counted in passing; of more, the server says how many are left, and
 * the outdated ones are listed by their label. Throws ApiError.
 */
export async function countWorkloads(reader: Reader): Promise<WorkloadCount> {
  let [instances, outdated] = [0, 0]
  for await (const { items, remaining } of reader.pages(metadataOfInstances)) {
    instances += items.length
    outdated += items.filter(isOutdated).length
    if (remaining) return { instances: instances + remaining, outdated: await countOutdated(reader) }
  }
  return { instances, outdated }
}

async function countOutdated(reader: Reader): Promise<number> {
  let count = 0
  for await (const { items } of reader.pages(metadataOfInstances, outdatedOnes)) count += items.length
  return count
}

function isOutdated({ metadata }: KubeObject): boolean {
  return Object.hasOwn(metadata.labels ?? {}, outdatedLabel)
}
