import type { Node } from '../../cluster/kinds/core.ts'

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** The first taint that keeps a pod away; a preference keeps nobody away. */
export function refusingTaint({ spec }: Node, tolerations: readonly Toleration[]): Taint | undefined {
  return spec?.taints?.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
  )
}

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (operator === 'Exists') return !key || key === taint.key
  return key === taint.key && (value ?? '') === (taint.value ?? '')
}
