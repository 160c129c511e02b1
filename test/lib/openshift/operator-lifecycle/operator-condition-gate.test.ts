import { describe, expect, test } from 'vitest'
import type { OperatorCondition } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { assessHyperConverged } from '../../../../src/lib/openshift/hyperconverged.ts'
import { operatorConditionGate } from '../../../../src/lib/openshift/platform-status.ts'
import { hyperConverged } from '../hyperconverged/hyperconverged.ts'
import { conditions, type Said } from '../platform/cluster-version.ts'
import { operatorCondition } from './lifecycle.ts'

const no: Said = ['Upgradeable', 'False', 'AlreadyPerformingUpgrade', 'upgrading']
const upgradeable: Said = ['Upgradeable', 'True']

function seen(said: Said, observedGeneration = 2): OperatorCondition['status'] {
  return { conditions: conditions([said]).map((one) => Object.assign(one, { observedGeneration })) }
}

describe('trap 6: the OperatorCondition is a gate of its own, and not what HyperConverged says', () => {
  test.each<readonly [string, OperatorCondition | undefined, string]>([
    ['no such object', undefined, 'yes'],
    ['nothing said', operatorCondition({}), 'yes'],
    ['True', operatorCondition({ status: seen(upgradeable) as object }), 'yes'],
    ['False', operatorCondition({ status: seen(no) as object }), 'no'],
    ['Unknown', operatorCondition({ status: seen(['Upgradeable', 'Unknown']) as object }), 'yes'],
    ['True about an older generation', operatorCondition({ status: seen(upgradeable, 1) as object }), 'no'],
    [
      'False, not copied to the status yet',
      operatorCondition({ spec: { conditions: conditions([no]) } }),
      'no',
    ],
    [
      'overridden to True',
      operatorCondition({ spec: { overrides: conditions([upgradeable]) }, status: seen(no) as object }),
      'yes',
    ],
    [
      'overridden to False',
      operatorCondition({ spec: { overrides: conditions([no]) }, status: seen(upgradeable) as object }),
      'no',
    ],
  ])('%s', (_name, one, is) => {
    expect(operatorConditionGate(one).is).toBe(is)
  })

  test('HyperConverged says no and OLM would upgrade: who asks OLM alone goes on', () => {
    const hco = hyperConverged([['Upgradeable', 'False', 'CDIProgressing', 'CDI is progressing']])
    expect(operatorConditionGate(operatorCondition({ status: seen(upgradeable) as object })).is).toBe('yes')
    expect(assessHyperConverged(hco).upgradeable.is).toBe('no')
  })

  test('HyperConverged says yes in the middle of its upgrade, and OLM would hold', () => {
    expect(assessHyperConverged(hyperConverged()).upgradeable.is).toBe('yes')
    expect(operatorConditionGate(operatorCondition({ status: seen(no) as object }))).toEqual({
      is: 'no',
      reason: 'AlreadyPerformingUpgrade',
      message: 'upgrading',
    })
  })
})
