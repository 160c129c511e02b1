import { expect, test } from 'vitest'
import type { MachineConfigPool } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { poolsMissing } from '../../../src/lib/openshift/machine-config-pools.ts'

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

const updating = conditions({ Updated: false, Updating: true })
test.each([
  ['paused', pool('worker', { paused: true }), 'pool worker, which is paused'],
  [
    'updating, some nodes done',
    pool('worker', {}, { conditions: updating, updatedMachineCount: 1 }),
    'pool worker, which has 1 of 3 nodes updated and ready',
  ],
  [
    'updated, not ready',
    pool('worker', {}, { readyMachineCount: 2 }),
    'pool worker, which has 2 of 3 nodes updated and ready',
  ],
  [
    'updating before the counts say so',
    pool('worker', {}, { conditions: updating }),
    'pool worker, which is updating',
  ],
  [
    'just unpaused: Updated is of the configuration before',
    pool('worker', { configuration: { name: 'rendered-c' } }),
    'pool worker, which has a new configuration and has not started on it',
  ],
  [
    'a change that the controller has not seen',
    pool('worker', {}, { observedGeneration: 3 }),
    'pool worker, which has a new configuration and has not started on it',
  ],
  [
    'degraded',
    pool('gpu', {}, { conditions: [{ type: 'Degraded', status: 'True', message: 'node a: drain' }] }),
    'pool gpu, which is degraded: node a: drain',
  ],
])('a pool that is %s', (_, one, missing) => {
  expect(poolsMissing([pool('master'), one])).toBe(missing)
})

test('a pool without nodes is updated', () => {
  expect(
    poolsMissing([pool('infra', {}, { machineCount: 0, updatedMachineCount: 0, readyMachineCount: 0 })]),
  ).toBeUndefined()
})
