import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { outcomeOf } from '../../../src/lib/vms/workload-updater.ts'

const vmi = (
  migratable: 'True' | 'False' | undefined,
  evictionStrategy?: string,
): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name: 'vm', namespace: 'demo' },
  spec: { ...(evictionStrategy && { evictionStrategy }) },
  status: {
    phase: 'Running',
    ...(migratable && { conditions: [{ type: 'LiveMigratable', status: migratable }] }),
  },
})

/** facts 3.5, row by row. */
test.each([
  [['LiveMigrate'], 'True', 'LiveMigrate', 'Always', 'migrates'],
  [['LiveMigrate'], 'False', 'LiveMigrate', 'Always', 'stays'],
  [['LiveMigrate'], undefined, undefined, 'Always', 'stays'],
  [['Evict'], 'True', 'LiveMigrate', 'Always', 'migrates'],
  [['Evict'], 'True', 'LiveMigrateIfPossible', 'Always', 'migrates'],
  [['LiveMigrate', 'Evict'], 'False', 'LiveMigrate', 'Always', 'stays'],
  [['LiveMigrate', 'Evict'], 'False', 'LiveMigrateIfPossible', 'Always', 'restarts'],
  [['LiveMigrate', 'Evict'], 'False', undefined, 'Always', 'restarts'],
  [['LiveMigrate', 'Evict'], 'False', 'None', 'RerunOnFailure', 'shuts down'],
  [['LiveMigrate', 'Evict'], 'False', 'None', 'Manual', 'shuts down'],
  [['LiveMigrate', 'Evict'], 'False', 'None', undefined, 'is lost'],
  [['LiveMigrate', 'Evict'], 'False', 'External', 'Always', 'stays'],
  [[], 'True', 'LiveMigrate', 'Always', 'stays'],
] as const)(
  'methods %j, migratable %s, eviction %s, runStrategy %s: %s',
  (...[methods, migratable, eviction, run, outcome]) => {
    expect(outcomeOf(vmi(migratable, eviction), { methods, clusterEviction: undefined }, run)).toBe(outcome)
  },
)

test('a VMI without a strategy of its own follows the cluster’s', () => {
  expect(outcomeOf(vmi('False'), { methods: ['Evict'], clusterEviction: 'LiveMigrate' }, 'Always')).toBe(
    'stays',
  )
})
