import type { OperatorCondition } from '../../cluster/kinds/operator-lifecycle.ts'
import { type Condition, condition } from '../../cluster/object.ts'

/**
 * Why OLM does not replace an operator (ocp 2.5): what its OperatorCondition says of Upgradeable, an override before the operator's own
 * word, and a word of an older generation as a no. Undefined where it may be replaced; so may one that says nothing.
 */
export function holdOf(of: OperatorCondition | undefined): string | undefined {
  if (of === undefined) return undefined
  const override = of.spec?.overrides?.find(({ type }) => type === 'Upgradeable')
  const said = override ?? condition(of, 'Upgradeable')
  if (said === undefined) return undefined
  if (override === undefined && isOutdated(said, of))
    return `the operatorcondition status "Upgradeable"="${said.status}" is outdated`
  return said.status === 'True' ? undefined : sentence(said)
}

function isOutdated(own: Condition & { observedGeneration?: number }, of: OperatorCondition): boolean {
  const { generation = 0 } = of.metadata
  return own.observedGeneration !== undefined && own.observedGeneration < generation
}

const sentence = ({ message = '' }: Condition): string => `the operator is not upgradeable: ${message}`
