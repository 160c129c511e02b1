import type { DaemonSet } from '../kube/kinds/workload-kinds.ts'
import type { Node } from '../kube/kinds/core-kinds.ts'
import { condition } from '../kube/object.ts'
import type { Evidence } from './full-snapshot.ts'
import { itemsOf } from '../kube/known.ts'
import { componentLabel } from './installed-components.ts'

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** Taints that keep a DaemonSet's pods away or drive them out. */
export function untolerated({ spec }: Node, set: DaemonSet | undefined): readonly Taint[] {
  const tolerations = set?.spec?.template?.spec?.tolerations ?? []
  return (spec?.taints ?? []).filter(
    (taint) => !always(taint) && !tolerations.some((toleration) => tolerates(toleration, taint)),
  )
}

/** Whether the node has every label that the DaemonSet's node selector names. */
export function isSelected({ metadata }: Node, set: DaemonSet | undefined): boolean {
  const wanted = Object.entries(set?.spec?.template?.spec?.nodeSelector ?? {})
  return wanted.every(([key, value]) => metadata.labels?.[key] === value)
}

/** A preference, or what the DaemonSet controller makes each of its pods tolerate. */
function always({ key, effect }: Taint): boolean {
  return effect === 'PreferNoSchedule' || /^node\.kubernetes\.io\/(?!out-of-service)/u.test(key)
}

function tolerates(toleration: Record<string, unknown>, taint: Taint): boolean {
  const { key, operator, value, effect } = toleration
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false
  if (operator === 'Exists') return key === undefined || key === '' || key === taint.key
  return key === taint.key && (value ?? '') === (taint.value ?? '')
}

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
