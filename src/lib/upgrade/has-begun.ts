import type { Loan } from '../procedure/journal.ts'
import type { Seen } from './make-plan.ts'
import type { UpgradePlan } from './plan.ts'
import { olmUpgradeName, upgradeName } from './names.ts'
import { runningUpdate } from './running-update.ts'

/**
 * Whether the way of a plan was entered already, or gone to its end: something is borrowed for it, its first write is made, or virt-operator is on
 * it. Pure; `loans` are the open ones.
 */
export function hasBegun(
  plan: UpgradePlan,
  { standing, installation }: Seen,
  loans: readonly Loan[],
): boolean {
  const { to, owner } = plan
  // Where nothing moves, what another run or `kvup workloads hold` has left borrowed is no beginning of this one.
  const names = plan.olm ? [olmUpgradeName(plan.olm.to)] : [upgradeName(to.text)]
  const own = isMoving.has(standing.verdict) ? loans : loans.filter((loan) => names.includes(loan.procedure))
  if (plan.olm) return own.length > 0 || plan.isRest || plan.olm.isUnderWay
  const isThere = standing.observed.version === to.text && standing.verdict === 'Settled'
  return (
    isThere ||
    runningUpdate(standing, to) !== 'none' ||
    (isMoving.has(standing.verdict) && isAskedFor(plan, installation)) ||
    own.some(({ object }) => object.uid === owner.uid)
  )
}

const isMoving: ReadonlySet<string> = new Set(['Updating', 'Stalled'])

/** The write that starts the update is made; where it moves already, virt-operator has not taken it up yet. */
function isAskedFor({ method, to }: UpgradePlan, { imageTag, operator }: Seen['installation']): boolean {
  return method === 'image-tag' ? imageTag === to.text : operator?.version === to.text
}
