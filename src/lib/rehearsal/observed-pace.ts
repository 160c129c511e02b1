import { known } from '../kube/known.ts'
import type { Reader } from '../kube/cluster.ts'
import { podsOutsideVms } from '../kubevirt/installed-components.ts'
import { type Pod, Pods } from '../kube/kinds/workload-kinds.ts'

/** How fast the last roll-out of a cluster was, as its pods still tell. */
export interface ObservedPace {
  /** From the moment a node took up a pod to the start of its container, in seconds: pulling the image, for the most part. The middle one of all. */
  pullSeconds: number
  /** Of so many pods. */
  pods: number
}

/** Fewer pods tell of luck. */
const leastPods = 3

/** Of KubeVirt's own pods in its namespace that never restarted; undefined where they tell nothing, or cannot be read. */
export async function observePace(reader: Reader, namespace: string): Promise<ObservedPace | undefined> {
  const pods = await known(reader.list(Pods, { namespace, labels: podsOutsideVms }))
  if (!pods.known) return undefined
  const took = pods.items.flatMap(pullOf).toSorted((a, b) => a - b)
  const middle = took[Math.floor(took.length / 2)]
  return middle === undefined || took.length < leastPods
    ? undefined
    : { pullSeconds: middle, pods: took.length }
}

function pullOf({ metadata, status }: Pod): readonly number[] {
  const [container] = status?.containerStatuses ?? []
  if (
    metadata.labels?.['kubevirt.io'] === undefined ||
    container === undefined ||
    (container.restartCount ?? 0) > 0
  )
    return []
  const began = Date.parse(container.state?.running?.startedAt ?? '')
  const took = (began - Date.parse(status?.startTime ?? '')) / 1000
  return Number.isFinite(took) && took >= 0 ? [Math.round(took)] : []
}
