import type { DaemonSet } from '../../cluster/kinds/apps.ts'
import type { Node } from '../../cluster/kinds/core.ts'
import { condition } from '../../cluster/object.ts'
import type { Evidence } from '../../facts/evidence.ts'
import { itemsOf } from '../../facts/known.ts'
import { isSelected, untolerated } from '../../facts/placement.ts'
import { componentLabel } from '../../facts/stamps.ts'

const handlerName = 'virt-handler'

/** Nodes that a virt-handler pod sits on. */
export function nodesWithHandler({ nodes, pods }: Evidence): readonly Node[] {
  const held = new Set(
    itemsOf(pods)
      .filter((pod) => componentLabel(pod) === handlerName)
      .map((pod) => pod.spec?.nodeName),
  )
  return itemsOf(nodes).filter(({ metadata }) => held.has(metadata.name))
}

/** virt-handler's DaemonSet; undefined where there is none. */
export function handlerSet({ daemonsets }: Evidence): DaemonSet | undefined {
  return itemsOf(daemonsets).find(({ metadata }) => metadata.name === handlerName)
}

/**
 * Whether the DaemonSet wants a pod there: by node selector and taints. False where it has an affinity, which is not
 * evaluated here; the pods that are there tell then.
 */
export function wantsHandler(node: Node, set: DaemonSet | undefined): boolean {
  const template = set?.spec?.template?.spec
  if (!template || template.affinity?.['nodeAffinity'] !== undefined) return false
  return isSelected(node, set) && untolerated(node, set).length === 0
}

/** Unknown is what a kubelet that has gone silent is given. */
export function isNodeReady(node: Node): boolean {
  return condition(node, 'Ready')?.status === 'True'
}

export const nameOfNode = ({ metadata }: Node): string => metadata.name
