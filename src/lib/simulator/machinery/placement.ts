import type { Node } from '../../cluster/kinds/core.ts'
import type { PodSpec } from '../../cluster/kinds/pods.ts'

interface Toleration {
  key?: string
  operator?: string
  effect?: string
}

interface NodeAffinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: {
      nodeSelectorTerms?: { matchExpressions?: { key: string; operator: string }[] }[]
    }
  }
}

/** Set on nodes that are not ready or cordoned; a DaemonSet's pods tolerate them by themselves. */
const passing = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/unschedulable',
])

/** True when a DaemonSet has a pod there: node selector and taints, those of a passing trouble excepted. */
export function toleratesNode(spec: PodSpec | undefined, node: Node): boolean {
  const taints = (node.spec?.taints ?? []).filter(
    (t) => t.effect !== 'PreferNoSchedule' && !passing.has(t.key),
  )
  return matches(spec, node) && taints.every((taint) => tolerates(spec, taint.key))
}

/** True when the scheduler may put a pod there now. */
export function fitsNode(spec: PodSpec | undefined, node: Node): boolean {
  const taints = (node.spec?.taints ?? []).filter((t) => t.effect !== 'PreferNoSchedule')
  return (
    node.spec?.unschedulable !== true &&
    matches(spec, node) &&
    taints.every((taint) => tolerates(spec, taint.key))
  )
}

function matches(spec: PodSpec | undefined, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  const selected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
  const terms = requiredTerms(spec)
  return selected && (terms.length === 0 || terms.some((term) => term.every((key) => key in labels)))
}

/** The labels that required node affinity asks for; only `Exists` is known here. */
function requiredTerms(spec: PodSpec | undefined): string[][] {
  const affinity = spec?.affinity as NodeAffinity | undefined
  const terms =
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return terms.map((term) => (term.matchExpressions ?? []).map(({ key }) => key))
}

function tolerates(spec: PodSpec | undefined, key: string): boolean {
  const all = (spec?.tolerations ?? []) as Toleration[]
  return all.some((t) => t.key === key || (t.key === undefined && t.operator === 'Exists'))
}
