import type { OperatorCondition } from '../../cluster/kinds/operator-lifecycle.ts'
import { operatorConditionGate } from './operator-condition-gate.ts'

/**
 * What has to be known before the operator of this OperatorCondition is replaced: that OLM would hold that, or that it would not, against the
 * operator's own word; and whether the operator or an override says so (ocp 2.5). Undefined where nothing speaks against it.
 */
export function saidOfReplacing(found: OperatorCondition | undefined): string | undefined {
  const gate = operatorConditionGate(found)
  const own = operatorConditionGate(withoutOverrides(found))
  if (gate.is === 'no') {
    const who = isOverridden(found) ? 'an override in its OperatorCondition' : 'its OperatorCondition'
    return `OLM would not replace it: ${who} says ${gate.reason}: ${gate.message}`
  }
  if (!isOverridden(found) || own.is !== 'no') return undefined
  return `OLM would replace it, by an override in its OperatorCondition, although it says ${own.reason}: ${own.message}`
}

/** Somebody says, in place of the operator, whether it may be replaced. */
export const isOverridden = (found: OperatorCondition | undefined): boolean =>
  found?.spec?.overrides?.some(({ type }) => type === 'Upgradeable') === true

function withoutOverrides(found: OperatorCondition | undefined): OperatorCondition | undefined {
  return found && { ...found, spec: { ...found.spec, overrides: [] } }
}
