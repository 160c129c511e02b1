import { describe, expect, test } from 'vitest'
import type { OperatorCondition } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { waitOf } from '../../../../src/simulator/olm/csv-controller.ts'

const of = (more: Partial<OperatorCondition>): OperatorCondition => ({
  apiVersion: 'operators.coreos.com/v2',
  kind: 'OperatorCondition',
  metadata: { name: 'o.v1', generation: 3 },
  ...more,
})
const own = (status: 'True' | 'False', observedGeneration: number) => ({
  status: { conditions: [{ type: 'Upgradeable', status, message: 'busy', observedGeneration }] },
})
const override = (status: 'True' | 'False') => ({
  spec: { overrides: [{ type: 'Upgradeable', status, message: 'not now' }] },
})

const rows: [title: string, condition: OperatorCondition | undefined, hold: RegExp | undefined][] = [
  ['a missing object lets it be replaced', undefined, undefined],
  ['so does one that says nothing', of({}), undefined],
  ['and one that says True', of(own('True', 3)), undefined],
  ['False holds, in its words', of(own('False', 3)), /not upgradeable: busy$/],
  ['True of an older generation is a no', of(own('True', 2)), /"Upgradeable"="True" is outdated/],
  ['an override wins over False', of({ ...own('False', 3), ...override('True') }), undefined],
  ['and over True', of({ ...own('True', 3), ...override('False') }), /not now/],
  ['and over what is outdated', of({ ...own('True', 2), ...override('True') }), undefined],
]

describe.for(rows)('ocp 2.5: %s', ([, condition, hold]) => {
  test('OLM judges so', () => {
    expect(waitOf(condition) ?? 'no hold').toMatch(hold ?? /^no hold$/)
  })
})
