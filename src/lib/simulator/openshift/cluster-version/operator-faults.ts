import type { ClusterOperator } from '../../../cluster/kinds/openshift.ts'
import { condition } from '../../../cluster/object.ts'
import { type Claim, withConditions } from '../conditions.ts'
import { type PlatformContext, seconds } from '../platform-context.ts'

const unwell = 'OperandsNotReady'
const fine = { status: 'False', reason: 'AsExpected', message: '' } as const

/**
 * An operator's status with the faults that are on, and without those that are off again. `refusing` remembers who was made to refuse
 * updates: nobody else's refusal is taken back.
 */
export function withFaults(
  cx: PlatformContext,
  operator: ClusterOperator,
  refusing: Set<string>,
): ClusterOperator['status'] {
  const claims = [...degraded(cx, operator), ...upgradeable(cx, operator, refusing)]
  if (claims.length === 0) return operator.status
  const conditions = withConditions(operator.status?.conditions ?? [], claims, seconds(cx))
  return { ...operator.status, conditions }
}

function degraded({ faults }: PlatformContext, operator: ClusterOperator): Claim[] {
  const { name } = operator.metadata
  const type = 'Degraded'
  const message = `the operands of ${name} are not ready`
  if (faults.on.degradedOperators?.includes(name) === true)
    return [{ type, status: 'True', reason: unwell, message }]
  return condition(operator, type)?.reason === unwell ? [{ type, ...fine }] : []
}

function upgradeable({ faults }: PlatformContext, operator: ClusterOperator, refusing: Set<string>): Claim[] {
  const { name } = operator.metadata
  const type = 'Upgradeable'
  const fault = faults.on.notUpgradeable?.find((f) => f.operator === name)
  if (fault) {
    refusing.add(name)
    return [{ type, status: 'False', reason: fault.reason, message: fault.message }]
  }
  return refusing.delete(name) ? [{ type, ...fine, status: 'True' }] : []
}
