import type { Condition } from '../../cluster/object.ts'
import type { Trouble } from './component-conditions.ts'

/** The conditions of a HyperConverged: types in the order in which they are written (ocp 1.5). */
const types = ['ReconcileComplete', 'Available', 'Progressing', 'Degraded', 'Upgradeable'] as const
type Type = (typeof types)[number]

const completed = { reason: 'ReconcileCompleted', message: 'Reconcile completed successfully' }
const init = { reason: 'Init', message: 'Initializing HyperConverged cluster' }
const first: Record<Type, Condition['status']> = {
  ReconcileComplete: 'Unknown',
  Available: 'False',
  Progressing: 'True',
  Degraded: 'False',
  Upgradeable: 'Unknown',
}

/** What a new one is told. */
export const initialConditions: readonly Condition[] = types.map((type) => ({
  type,
  status: first[type],
  ...init,
}))

/** A pass that failed: of all but that nothing is known. */
export function failedConditions(why: string): Condition[] {
  return types.map((type) =>
    type === 'ReconcileComplete'
      ? { type, status: 'False', reason: 'ReconcileFailed', message: `Error while reconciling: ${why}` }
      : { type, status: 'Unknown', reason: 'StatusUnknown', message: 'Unknown Status' },
  )
}

/** From the trouble of its components. `upgradingTo`: in upgrade mode, which says nothing of Upgradeable. */
export function aggregated(trouble: Trouble, upgradingTo: string | undefined): Condition[] {
  const said = new Map(trouble)
  const unlessSaid = (condition: Condition): unknown =>
    said.has(condition.type) || said.set(condition.type, condition)
  said.set('ReconcileComplete', { type: 'ReconcileComplete', status: 'True', ...completed })
  for (const condition of consequences(trouble)) unlessSaid(condition)
  for (const [type, status] of good) unlessSaid({ type, status, ...completed })
  if (upgradingTo !== undefined) {
    const message = `HCO is now upgrading to version ${upgradingTo}`
    said.set('Progressing', { type: 'Progressing', status: 'True', reason: 'HCOUpgrading', message })
  }
  return types.flatMap((type) => said.get(type) ?? [])
}

const good = [
  ['Degraded', 'False'],
  ['Progressing', 'False'],
  ['Upgradeable', 'True'],
  ['Available', 'True'],
] as const

/** What follows for Upgradeable and Available where a component is degraded or progressing and did not say it itself. */
function consequences(trouble: Trouble): Condition[] {
  if (trouble.has('Degraded')) {
    return [
      { type: 'Upgradeable', status: 'False', ...degraded('Upgradeable') },
      { type: 'Available', status: 'False', ...degraded('available') },
    ]
  }
  if (!trouble.has('Progressing')) return []
  const message = 'HCO is not Upgradeable due to progressing components'
  return [{ type: 'Upgradeable', status: 'False', reason: 'HCOProgressing', message }]
}

const degraded = (what: string) => ({
  reason: 'HCODegraded',
  message: `HCO is not ${what} due to degraded components`,
})

type Health = 'healthy' | 'warning' | 'error'

/** systemHealthStatus: in upgrade mode only Degraded is an error, and neither being unavailable nor progressing counts (ocp 1.5). */
export function healthOf(conditions: readonly Condition[], upgrading: boolean): Health {
  const is = (type: Type, status: Condition['status']) =>
    conditions.some((c) => c.type === type && c.status === status)
  if (is('Degraded', 'True')) return 'error'
  if (upgrading) return 'healthy'
  if (!is('Available', 'True')) return 'error'
  return is('ReconcileComplete', 'True') && is('Progressing', 'False') ? 'healthy' : 'warning'
}

export type OwnCondition = Condition & { observedGeneration?: number }

/** Their times are kept where the status is the same; others that are there go. */
export function dated(
  wanted: readonly Condition[],
  before: readonly OwnCondition[],
  { now, generation }: { now: string; generation: number },
): OwnCondition[] {
  return wanted.map((condition) => {
    const last = before.find(({ type }) => type === condition.type)
    const since = last?.status === condition.status ? last.lastTransitionTime : undefined
    return { ...condition, observedGeneration: generation, lastTransitionTime: since ?? now }
  })
}
