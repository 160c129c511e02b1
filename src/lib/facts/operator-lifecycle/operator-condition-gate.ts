import type { OperatorCondition } from '../../cluster/kinds/operator-lifecycle.ts'
import type { Condition } from '../../cluster/object.ts'
import { type Gate, yes } from '../gate.ts'

/**
 * Whether OLM lets the operator of this OperatorCondition be replaced, decided as OLM does: an override beats the status, a status
 * of an older generation is a no, and nothing said, or no such object, is a yes (ocp 2.5).
 */
export function operatorConditionGate(found: OperatorCondition | undefined): Gate {
  if (!found) return yes
  const override = upgradeable(found.spec?.overrides)
  if (override) return override.status === 'True' ? yes : no(override)
  const seen = upgradeable(found.status?.conditions)
  // Not copied to the status yet: OLM is about to see it.
  return seen ? seenGate(seen, found) : saidGate(upgradeable(found.spec?.conditions))
}

function seenGate(seen: Said, found: OperatorCondition): Gate {
  if (!isOutdated(seen, found)) return saidGate(seen)
  return no({ ...seen, reason: 'Outdated', message: `it is about generation ${seen.observedGeneration}` })
}

const saidGate = (said: Said | undefined): Gate => (said?.status === 'False' ? no(said) : yes)

type Said = Condition & { observedGeneration?: number }

const upgradeable = (conditions: readonly Said[] | undefined): Said | undefined =>
  conditions?.find(({ type }) => type === 'Upgradeable')

function isOutdated({ observedGeneration }: Said, { metadata }: OperatorCondition): boolean {
  return observedGeneration !== undefined && observedGeneration < (metadata.generation ?? 0)
}

const no = ({ reason = 'Upgradeable', message = '' }: Condition): Gate => ({ is: 'no', reason, message })
