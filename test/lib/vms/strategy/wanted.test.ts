import { describe, expect, test } from 'vitest'
import { KvupError } from '../../../../src/lib/kube/errors.ts'
import { parseWanted, type TypedSettings } from '../../../../src/lib/vms/strategy/set-strategy.ts'

function refusal(typed: TypedSettings): KvupError {
  try {
    parseWanted(typed)
  } catch (error) {
    if (error instanceof KvupError) return error
  }
  throw new Error('it was taken')
}

test.each<[TypedSettings, object]>([
  [{ methods: 'LiveMigrate' }, { workloadUpdateMethods: ['LiveMigrate'] }],
  [{ methods: ' Evict, LiveMigrate ' }, { workloadUpdateMethods: ['Evict', 'LiveMigrate'] }],
  [{ methods: 'none' }, { workloadUpdateMethods: [] }],
  [{ batchSize: '10' }, { batchEvictionSize: 10 }],
  [{ batchInterval: '1m' }, { batchEvictionInterval: '1m0s' }],
  [{ batchInterval: '90s' }, { batchEvictionInterval: '1m30s' }],
  [{ batchInterval: '2d' }, { batchEvictionInterval: '48h0m0s' }],
  [{ batchInterval: '500ms' }, { batchEvictionInterval: '500ms' }],
  [{ parallelPerCluster: '7' }, { parallelMigrationsPerCluster: 7 }],
  [{ parallelPerNode: '1' }, { parallelOutboundMigrationsPerNode: 1 }],
  [{ bandwidth: '64Mi' }, { bandwidthPerMigration: '64Mi' }],
  [{ bandwidth: '0' }, { bandwidthPerMigration: '0Mi' }],
  [{ completionTimeout: '2m30s' }, { completionTimeoutPerGiB: 150 }],
  [{ progressTimeout: '150s' }, { progressTimeout: 150 }],
  [{ migrationNetwork: 'none' }, { network: null }],
  [{ migrationNetwork: 'fast-net' }, { network: 'fast-net' }],
])('%j', (typed, wanted) => {
  expect(parseWanted(typed)).toEqual(wanted)
})

describe('W7: bad input is exit 2 before the cluster is read', () => {
  test.each<[TypedSettings, string, RegExp]>([
    [{}, 'nothing-to-set', /--methods LiveMigrate/],
    [{ methods: 'LiveMigration' }, 'no-such-method', /did you mean LiveMigrate\?/],
    [{ methods: 'livemigrate' }, 'no-such-method', /did you mean LiveMigrate\?/],
    [{ methods: 'LiveMigrat' }, 'no-such-method', /did you mean LiveMigrate\?/],
    [{ methods: 'LiveMigrate,evict' }, 'no-such-method', /did you mean Evict\?/],
    [{ methods: 'Eviction' }, 'no-such-method', /did you mean Evict\?/],
    [{ methods: 'Reboot' }, 'no-such-method', /LiveMigrate, Evict/],
    [{ methods: '' }, 'no-such-method', /or none/],
    [{ methods: 'LiveMigrate,' }, 'no-such-method', /or none/],
    [{ methods: 'Evict,Evict' }, 'method-twice', /^$/],
    [{ batchSize: '0' }, 'not-a-count', /^$/],
    [{ batchSize: '-1' }, 'not-a-count', /^$/],
    [{ batchSize: '1.5' }, 'not-a-count', /^$/],
    [{ batchSize: '99999999999' }, 'not-a-count', /^$/],
    [{ batchInterval: '60' }, 'not-a-duration', /60s for seconds/],
    [{ batchInterval: '0s' }, 'not-positive', /^$/],
    [{ batchInterval: '-1m' }, 'not-a-duration', /90s/],
    [{ completionTimeout: '1500ms' }, 'not-seconds', /^$/],
    [{ bandwidth: '64' }, 'not-a-bandwidth', /64Mi/],
    [{ bandwidth: '64m' }, 'not-a-bandwidth', /64Mi/],
    [{ bandwidth: '-64Mi' }, 'not-a-bandwidth', /64Mi/],
    [{ bandwidth: 'fast' }, 'not-a-bandwidth', /64Mi/],
    [{ migrationNetwork: 'A!' }, 'not-a-network', /^$/],
  ])('%j', (typed, reason, helps) => {
    const { exitCode, reason: given, remedy } = refusal(typed)
    expect({ exitCode, reason: given }).toEqual({ exitCode: 2, reason })
    expect(remedy.join('\n')).toMatch(helps)
  })
})
