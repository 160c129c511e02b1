import { expect, test } from 'vitest'
import type { MachineConfigPool } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { poolsMissing } from '../../../src/lib/openshift/machine-config-pools.ts'
import fixture from './pools-updated.json' with { type: 'json' }

type Status = NonNullable<MachineConfigPool['status']>
const conditions = (is: Record<string, boolean>) =>
  Object.entries(is).map(([type, yes]) => ({ type, status: yes ? ('True' as const) : ('False' as const) }))

/** A pool of three nodes that is updated, but for what is said. */
function pool(
  name: string,
  spec: NonNullable<MachineConfigPool['spec']> = {},
  status: Status = {},
): MachineConfigPool {
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name, generation: 4 },
    spec: { configuration: { name: 'rendered-b' }, ...spec },
    status: {
      conditions: conditions({ Updated: true, Updating: false, Degraded: false }),
      configuration: { name: 'rendered-b' },
      observedGeneration: 4,
      machineCount: 3,
      updatedMachineCount: 3,
      readyMachineCount: 3,
      ...status,
    },
  }
}

test('all of them are updated', () => {
  expect(poolsMissing([pool('master'), pool('worker')])).toBeUndefined()
})

test.each(fixture.rows as unknown as [string, MachineConfigPool, string][])(
  'a pool that is %s',
  (_, one, missing) => {
    expect(poolsMissing([pool('master'), one])).toBe(missing)
  },
)

test('a pool without nodes is updated', () => {
  expect(
    poolsMissing([pool('infra', {}, { machineCount: 0, updatedMachineCount: 0, readyMachineCount: 0 })]),
  ).toBeUndefined()
})
