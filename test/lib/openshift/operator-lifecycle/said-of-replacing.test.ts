import { expect, test } from 'vitest'
import type { OperatorCondition } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { saidOfReplacing } from '../../../../src/lib/openshift/platform-status.ts'
import { conditions, type Said } from '../platform/cluster-version.ts'

const no: Said = ['Upgradeable', 'False', 'Migrating', 'a volume is copied']
const yes: Said = ['Upgradeable', 'True', 'Upgradeable', '']

function condition(own: readonly Said[], overrides: readonly Said[]): OperatorCondition {
  return {
    apiVersion: 'operators.coreos.com/v2',
    kind: 'OperatorCondition',
    metadata: { name: 'hco', namespace: 'hco' },
    spec: { conditions: conditions(own), overrides: conditions(overrides) },
    status: { conditions: conditions(own) },
  }
}

const rows: readonly [what: string, of: OperatorCondition | undefined, says: string | undefined][] = [
  ['there is none', undefined, undefined],
  ['it says nothing', condition([], []), undefined],
  ['it may be replaced', condition([yes], []), undefined],
  ['an override that changes nothing', condition([yes], [yes]), undefined],
  [
    'its own word',
    condition([no], []),
    'OLM cannot replace it: its OperatorCondition says Migrating: a volume is copied',
  ],
  [
    'somebody holds it',
    condition([yes], [no]),
    'OLM cannot replace it: an override in its OperatorCondition says Migrating: a volume is copied',
  ],
  [
    'somebody overrides its no',
    condition([no], [yes]),
    'OLM would replace it, by an override in its OperatorCondition, although it says Migrating: a volume is copied',
  ],
]

test.each(rows)('%s', (_, of, says) => {
  expect(saidOfReplacing(of)).toBe(says)
})
