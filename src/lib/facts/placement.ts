import type { DaemonSet } from '../cluster/kinds/apps.ts'
import type { Node } from '../cluster/kinds/core.ts'

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
