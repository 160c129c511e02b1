import { type DaemonSet, DaemonSets } from '../../cluster/kinds/apps.ts'
import type { Node } from '../../cluster/kinds/core.ts'
import type { Pod } from '../../cluster/kinds/pods.ts'
import type { ControllerContext } from './controller.ts'
import { revisionLabel } from './revision-label.ts'
import { isReady } from './pods.ts'
import { sameStatus } from './same-status.ts'

interface Standing {
  nodes: readonly Node[]
  pods: readonly Pod[]
  hash: string
}

/** Writes the counts of a DaemonSet as its pods have them. */
export async function reportDaemonSet(
  cx: ControllerContext,
  set: DaemonSet,
  standing: Standing,
): Promise<void> {
  const { nodes, pods, hash } = standing
  const placed = pods.filter((pod) => nodes.some((node) => node.metadata.name === pod.spec?.nodeName))
  const ready = placed.filter((pod) => pod.metadata.deletionTimestamp === undefined && isReady(pod)).length
  const status = {
    observedGeneration: set.metadata.generation ?? 1,
    desiredNumberScheduled: nodes.length,
    currentNumberScheduled: placed.length,
    numberMisscheduled: pods.length - placed.length,
    updatedNumberScheduled: placed.filter((pod) => pod.metadata.labels?.[revisionLabel] === hash).length,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: nodes.length - ready,
  }
  if (!sameStatus(set.status, status))
    await cx.writer.mergePatch(DaemonSets, set.metadata, { status }, 'status')
}
