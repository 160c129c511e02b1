import { describe, expect, test } from 'vitest'
import type { Check } from '../../../../src/lib/checks/check-definition.ts'
import {
  hotpluggedVolumes,
  migrationQuota,
  pendingChanges,
  twoLaunchers,
  twoNodes,
  vmsThatStay,
  vmsWithoutAnotherNode,
} from '../../../../src/lib/checks/groups/vm-checks.ts'
import { migrationsInFlight, nodeDrained } from '../../../../src/lib/checks/groups/activity-checks.ts'
import type { FullSnapshot, ResourceQuota } from '../../../../src/lib/kubevirt/full-snapshot.ts'
import type { Known } from '../../../../src/lib/kube/known.ts'
import type { InstanceTally } from '../../../../src/lib/kubevirt/snapshot.ts'
import { ask, known, unread, withSpec } from '../evidence.ts'
import { nodes, notReady, tally, wholeCluster } from '../whole-cluster.ts'
import fixture from './workloads.json' with { type: 'json' }

const migrating = { workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } }
const found = (check: Check, overrides: Partial<FullSnapshot>, spec: object = migrating) =>
  ask(check, { snapshot: withSpec(spec, wholeCluster(overrides)), target: 'v1.9.0' })
const tallied = (check: Check, overrides: Partial<InstanceTally>, spec?: object) =>
  found(check, { instances: known(tally(overrides)) }, spec)
const one = { count: 1, names: ['shop/db-0'] }

const quota = (hard: Record<string, string>, used: Record<string, string>): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'team', namespace: 'shop' },
  status: { hard, used },
})

test('many VMs are a few by name and all by number', () => {
  const names = Array.from({ length: 100 }, (_, i) => `shop/vm-${i}`)
  const { findings } = tallied(twoLaunchers, { twoLaunchers: { count: 4000, names } })
  expect(findings[0]?.summary).toContain('4000 VMs have')
  expect(findings[0]?.summary).toContain('shop/vm-0, shop/vm-1, shop/vm-2 and 3997 more')
})

test('pending changes stand still for good where LiveMigrate is no method', () => {
  expect(tallied(pendingChanges, { pendingChanges: one }).findings[0]?.summary).toContain(
    'while automatic VM updates are paused',
  )
  expect(tallied(pendingChanges, { pendingChanges: one }, {}).findings[0]?.summary).toContain(
    'it never happens',
  )
})

test('migrations-in-flight tells which of them hangs, and that it could not be told', () => {
  const migration = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name: 'move', namespace: 'shop' },
    spec: { vmiName: 'db-0' },
  }
  const hung = {
    namespace: 'shop',
    vm: 'db-0',
    migration: 'move',
    phase: 'Running',
    sentence: 'its target pod is gone',
    remedy: ['kubectl -n shop delete virtualmachineinstancemigration move'],
  }
  const migrations = known(migration)
  const summaries = (stuckMigrations: Known<typeof hung>) =>
    found(migrationsInFlight, { migrations, stuckMigrations }).findings.map(({ summary }) => summary)
  expect(summaries(known(hung))[1]).toMatch(/^the migration of shop\/db-0 is stuck, .*pod is gone$/u)
  expect(summaries({ known: false, why: 'pods is forbidden' })[1]).toBe(
    'kvup did not check whether one of them hangs: pods is forbidden',
  )
  expect(found(migrationsInFlight, { stuckMigrations: unread }).is).toBe('passed')
})

describe('vms-that-stay', () => {
  const stuck = { notMigratable: { count: 1, names: ['shop/db-0 (DisksNotLiveMigratable)'] } }

  test('with Evict among the methods nothing is promised', () => {
    const evict = { workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate', 'Evict'] } }
    expect(tallied(vmsThatStay, stuck, evict).findings[0]?.summary).toContain(
      'each is shut down or not moved',
    )
  })

  test('without methods all of them stay, unless there are none', () => {
    expect(tallied(vmsThatStay, {}, { workloadUpdateStrategy: {} }).findings[0]?.summary).toContain(
      '10 running VMs',
    )
    expect(tallied(vmsThatStay, { running: 0 }, { workloadUpdateStrategy: {} }).is).toBe('passed')
  })

  test('methods that kvup holds come back: only those that cannot be migrated stay', () => {
    const overrides = known({ id: 'workload-updates', by: 'jane@here' })
    const held = { workloadUpdateStrategy: { workloadUpdateMethods: [] } }
    expect(found(vmsThatStay, { overrides, instances: known(tally({})) }, held).is).toBe('passed')
    const { findings } = found(vmsThatStay, { overrides, instances: known(tally(stuck)) }, held)
    expect(findings[0]?.summary).toContain('1 running VM cannot be migrated')
    expect(findings[0]?.remedy[0]).toContain('LiveMigratable')
  })
})

describe('two-nodes', () => {
  const changes = { 'worker-1': notReady, 'worker-2': notReady }

  test('VMs that a drain may not stop are counted, with the default of the cluster', () => {
    const evictionStrategies = { LiveMigrate: { count: 2, names: [] }, '': { count: 3, names: [] } }
    const asked = { nodes: known(...nodes(changes)), instances: known(tally({ evictionStrategies })) }
    const { findings } = found(twoNodes, asked)
    expect(findings[0]?.summary).toContain('2 VMs have evictionStrategy LiveMigrate')
    const byDefault = found(twoNodes, asked, { configuration: { evictionStrategy: 'LiveMigrate' } })
    expect(byDefault.findings[0]?.summary).toContain('5 VMs have evictionStrategy LiveMigrate')
  })

  test('two are enough; without running VMs nobody has to move', () => {
    expect(found(twoNodes, { nodes: known(...nodes({ 'worker-1': notReady })) }).is).toBe('passed')
    const none = { nodes: known(...nodes(changes)), instances: known(tally({ running: 0 })) }
    expect(found(twoNodes, none).is).toBe('passed')
  })
})

describe('migration-quota', () => {
  const largestMemory = { shop: 4 * 2 ** 30 }
  const judged = (hard: Record<string, string>, used: Record<string, string>) =>
    found(migrationQuota, { quotas: known(quota(hard, used)), instances: known(tally({ largestMemory })) })

  test.each(fixture.quotas)('%s %s with %s used: %s', (resource, limit, used, is) => {
    expect(judged({ [resource]: limit }, { [resource]: used }).is).toBe(is)
  })

  test('a namespace without running VMs needs no room', () => {
    const { is } = found(migrationQuota, { quotas: known(quota({ pods: '1' }, { pods: '1' })) })
    expect(is).toBe('passed')
  })
})

test('a mark to leave a node is told as a drain where the nodes may not be read', () => {
  const evacuatingFrom = { 'worker-1': one }
  const { findings } = found(nodeDrained, {
    instances: known(tally({ evacuating: one, evacuatingFrom })),
    nodes: unread,
  })
  expect(findings).toMatchObject([
    { id: 'node-drained', summary: expect.stringContaining('leaving a drained node') as string },
  ])
})

test('all hotplugged volumes are compared, however many their VMs name', () => {
  const volumes = Array.from({ length: 300 }, (_, i) => `shop/vm-${i}/disk`)
  const vms = known({
    total: 300,
    restartRequired: { count: 0, names: [] },
    hotplugged: new Set(volumes.toReversed()),
  })
  const plugged = (more: readonly string[]) =>
    found(hotpluggedVolumes, { instances: known(tally({ hotplugged: new Set([...volumes, ...more]) })), vms })
      .findings
  expect(plugged([])).toEqual([])
  expect(plugged(['shop/db-0/scratch'])).toMatchObject([{ objects: ['shop/db-0/scratch'] }])
})

test('a CPU model is asked of nodes only where one of them tells of models', () => {
  const place = { labels: { 'cpu-model.node.kubevirt.io/EPYC-Rome': undefined }, node: 'worker-1', vms: one }
  const on = (labels: Record<string, string>) => {
    const label = (node: { metadata: object }) => Object.assign(node.metadata, { labels })
    const given = nodes({ 'worker-1': label, 'worker-2': label })
    const placed = new Map([['one', place]])
    return found(vmsWithoutAnotherNode, { instances: known(tally({ placed })), nodes: known(...given) })
      .findings
  }
  expect(on({})).toEqual([])
  expect(on({ 'cpu-model.node.kubevirt.io/Skylake': 'true' })).toMatchObject([
    { id: 'vms-without-another-node' },
  ])
})
