import type { DaemonSet } from '../cluster/kinds/apps.ts'
import type { Node } from '../cluster/kinds/core.ts'
import type { Pod } from '../cluster/kinds/pods.ts'
import type { Cause } from './cause.ts'
import { itemsOf } from './known.ts'
import { isSelected, untolerated } from './placement.ts'
import { isReady, isUpdated, podsOf, type Scene, targetId, type Workload, workloads } from './scene.ts'
import { troubleSentence } from './sentence.ts'

/**
 * New pods of a DaemonSet on nodes that it does not want any more, of a taint or label that came later. virt-operator counts
 * them as ready, has more than it wants, and does not go on (facts 2.8, 2.9). Nothing while Kubernetes counts none.
 */
export function misscheduledPods(scene: Scene): Cause[] {
  return workloads(scene).flatMap((workload) => {
    if (workload.kind !== 'DaemonSet' || !workload.object.status?.numberMisscheduled) return []
    const found = strays(scene, workload)
    return found.length > 0 ? [causeOf(workload.object, found)] : []
  })
}

interface Stray {
  pod: Pod
  node: Node
  /** What keeps the DaemonSet away. */
  why: string
  since: string | undefined
}

function strays(scene: Scene, workload: Workload & { kind: 'DaemonSet' }): Stray[] {
  const target = targetId(scene)
  return podsOf(scene, workload).flatMap((pod) => {
    const node = itemsOf(scene.snapshot.nodes).find(({ metadata }) => metadata.name === pod.spec?.nodeName)
    if (!node || !isUpdated(pod, target) || !isReady(pod)) return []
    const [taint] = untolerated(node, workload.object)
    if (taint) return [{ pod, node, why: `the taint ${taint.key}:${taint.effect}`, since: taint.timeAdded }]
    return isSelected(node, workload.object)
      ? []
      : [{ pod, node, why: 'its node selector', since: undefined }]
  })
}

function causeOf({ metadata }: DaemonSet, found: readonly Stray[]): Cause {
  const since = found.find((stray) => stray.since !== undefined)?.since
  const cause = {
    kind: 'misscheduled' as const,
    component: metadata.name,
    reason: 'Misscheduled',
    terminal: false,
    namespace: metadata.namespace ?? '',
    pods: found.map(({ pod }) => pod.metadata.name),
    nodes: found.map(({ node }) => node.metadata.name),
    message: [...new Set(found.map(({ why }) => why))].join(' and '),
    ...(since && { since }),
  }
  return { ...cause, ...troubleSentence(cause) }
}
