import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { outcomeOf } from '../../../src/lib/vms/workload-updater.ts'
import fixture from './fate.json' with { type: 'json' }

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
test.each<[string[], 'True' | 'False' | null, string | null, string | null, string]>(fixture.fates as never)(
  'methods %j, migratable %s, eviction %s, runStrategy %s: %s',
  (...[methods, migratable, eviction, run, outcome]) => {
    expect(
      outcomeOf(
        vmi(migratable ?? undefined, eviction ?? undefined),
        { methods, clusterEviction: undefined },
        run ?? undefined,
      ),
    ).toBe(outcome)
  },
)

test('a VMI without a strategy of its own follows the cluster’s', () => {
  expect(outcomeOf(vmi('False'), { methods: ['Evict'], clusterEviction: 'LiveMigrate' }, 'Always')).toBe(
    'stays',
  )
})
