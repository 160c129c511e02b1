import type { ClusterOperator } from '../../cluster/kinds/openshift.ts'
import { condition } from '../../cluster/object.ts'
import { type Gate, gateOf, yes } from '../gate.ts'

/** One part of the platform: version, and what is not as it is when all is well. */
export interface ClusterOperatorStanding {
  name: string
  /** `versions[operator]`. */
  version?: string
  available: boolean
  /** Since when, RFC 3339, and in its words. */
  progressing?: Trouble
  degraded?: Trouble
  upgradeable: Gate
}

interface Trouble {
  since?: string
  message: string
}

/** In the order in which they were listed. */
export function clusterOperatorStandings(
  operators: readonly ClusterOperator[],
): readonly ClusterOperatorStanding[] {
  return operators.map((operator) => {
    const version = operator.status?.versions?.find(({ name }) => name === 'operator')?.version
    const progressing = whileTrue(operator, 'Progressing')
    const degraded = whileTrue(operator, 'Degraded')
    return {
      name: operator.metadata.name,
      ...(version && { version }),
      available: condition(operator, 'Available')?.status === 'True',
      ...(progressing && { progressing }),
      ...(degraded && { degraded }),
      upgradeable: gateOf(condition(operator, 'Upgradeable'), yes),
    }
  })
}

function whileTrue(operator: ClusterOperator, type: string): Trouble | undefined {
  const found = condition(operator, type)
  if (found?.status !== 'True') return undefined
  const { lastTransitionTime: since, message = '' } = found
  return { ...(since && { since }), message }
}
