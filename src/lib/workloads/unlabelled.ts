import type { Reader } from '../cluster/cluster.ts'
import { VirtualMachineInstances } from '../cluster/kinds/virtual-machines.ts'
import { launcherImage } from '../facts/controller.ts'
import type { Snapshot } from '../facts/snapshot.ts'
import { outdatedLabel } from '../facts/workload-count.ts'
import { isNotFound } from '../system/errors.ts'

/**
 * Running VMIs whose launcher is not the one of the current virt-controller and that are not labelled outdated yet: while
 * there are any, counts of outdated workloads are too low (facts 3.1; images are compared as strings, as KubeVirt does).
 */
export async function countUnlabelled(reader: Reader, snapshot: Snapshot): Promise<number> {
  const image = launcherImage(snapshot)
  if (image === undefined) return 0
  let count = 0
  try {
    for await (const page of reader.pages(VirtualMachineInstances, { labels: `!${outdatedLabel}` }))
      count += page.items.filter(({ status }) => {
        const runs = status?.launcherContainerImageVersion
        return status?.phase === 'Running' && runs !== undefined && runs !== '' && runs !== image
      }).length
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return count
}
