import { describe, expect, test } from 'vitest'
import type { KubeVirt, MigrationPolicy } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import {
  migrationSpan,
  policyFor,
  speedBy,
  speedOf,
  WholeTime,
} from '../../../../src/lib/vms/forecast/migration-time.ts'
import { aVmi } from '../outdated/a-vmi.ts'

const kubevirt = (spec: KubeVirt['spec'] = {}, version = 'v1.8.4'): KubeVirt => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt' },
  spec,
  status: { observedKubeVirtVersion: version },
})
const withMemory = (guest: string) => ({ ...aVmi(), spec: { domain: { memory: { guest } } } })
const migrations = (set: object) => ({ configuration: { migrations: set } })

describe('how long one migration takes', () => {
  test('by memory and bandwidth: a quarter of it at best, three times all of it at worst', () => {
    const speed = speedOf(kubevirt(migrations({ bandwidthPerMigration: '64Mi' })))
    expect(migrationSpan(withMemory('1Gi'), speed)).toEqual({ low: 3 + 4, high: 30 + 48 })
  })

  test('without a limit: what a fast and a slow link need, and never longer than KubeVirt lets it', () => {
    const speed = speedOf(kubevirt())
    expect(speed).toEqual({ bandwidth: 0, completionTimeoutPerGiB: 150 })
    const { low, high } = migrationSpan(withMemory('100Gi'), speed)
    expect([Math.round(low), Math.round(high)]).toEqual([12, 2607])
    const impatient = { bandwidth: 2 ** 20, completionTimeoutPerGiB: 150 }
    expect(migrationSpan(withMemory('2Gi'), impatient).high).toBe(30 + 300)
    expect(speedOf(kubevirt({}, 'v1.3.1')).completionTimeoutPerGiB).toBe(800)
  })

  test('by its last one where that succeeded, and else as if there had been none', () => {
    const spans = [{ completed: true }, { completed: true, failed: true }].map((end) => {
      const [startTimestamp, endTimestamp] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:40Z']
      const vmi = aVmi({ status: { migrationState: { startTimestamp, endTimestamp, ...end } } })
      return migrationSpan({ ...vmi, spec: withMemory('1Gi').spec }, speedOf(kubevirt()))
    })
    expect(spans).toEqual([{ low: 23, high: 110 }, migrationSpan(withMemory('1Gi'), speedOf(kubevirt()))])
  })
})

const policy = (name: string, spec: MigrationPolicy['spec']): MigrationPolicy => ({
  apiVersion: 'migrations.kubevirt.io/v1alpha1',
  kind: 'MigrationPolicy',
  metadata: { name },
  ...(spec && { spec }),
})

test('the MigrationPolicy that selects it by most labels holds, of equals by most of its own, then by name', () => {
  const all = [
    policy('none', {}),
    policy('b', {
      bandwidthPerMigration: '1Mi',
      selectors: { virtualMachineInstanceSelector: { app: 'db' } },
    }),
    policy('a', { bandwidthPerMigration: '2Mi', selectors: { namespaceSelector: { team: 'red' } } }),
    policy('other', { selectors: { virtualMachineInstanceSelector: { app: 'db', tier: 'x' } } }),
  ]
  const vmi = aVmi({ metadata: { labels: { app: 'db' } } })
  const red = new Map([['shop', { team: 'red' }]])
  expect(policyFor(vmi, { all, namespaces: red })?.metadata.name).toBe('b')
  const twins = [...all, policy('also-a', { selectors: { namespaceSelector: { team: 'red' } } })]
  const bare = aVmi({ metadata: { labels: {} } })
  expect(policyFor(bare, { all: twins, namespaces: red })?.metadata.name).toBe('a')
  expect(policyFor(vmi, { all, namespaces: new Map() })?.metadata.name).toBe('b')
  expect(policyFor(bare, { all, namespaces: new Map() })).toBeUndefined()
  const every = [...all, policy('every', { selectors: {} })]
  expect(policyFor(bare, { all: every, namespaces: new Map() })?.metadata.name).toBe('every')
  expect(policyFor(vmi, { all: every, namespaces: new Map() })?.metadata.name).toBe('b')
  const cluster = { bandwidth: 5, completionTimeoutPerGiB: 150 }
  expect(speedBy(all[1], cluster)).toEqual({ bandwidth: 2 ** 20, completionTimeoutPerGiB: 150 })
  expect(speedBy(undefined, cluster)).toEqual(cluster)
})

describe('how long the whole takes', () => {
  const span = { low: 10, high: 60 }
  const many = (nodes: number, each: number, spec: KubeVirt['spec'] = {}) => {
    const time = new WholeTime(kubevirt(spec))
    for (let i = 0; i < nodes * each; i++) time.addMigration(`node-${i % nodes}`, span)
    return time.span
  }
  test('the limit of the cluster, where the nodes are many', () => {
    expect(many(10, 2)).toEqual({ low: 40, high: 240 })
  })
  test('the limit of a node, where they are few', () => {
    expect(many(1, 20)).toEqual({ low: 100, high: 600 })
    expect(many(1, 20, migrations({ parallelOutboundMigrationsPerNode: 5 }))).toEqual({ low: 40, high: 240 })
  })
  test('never less than one of them', () => {
    expect(many(1, 1)).toEqual(span)
  })
  test('batches of evictions, the first of which is at once', () => {
    const time = new WholeTime(
      kubevirt({ workloadUpdateStrategy: { batchEvictionSize: 2, batchEvictionInterval: '1m30s' } }),
    )
    for (let i = 0; i < 5; i++) time.addEviction()
    expect(time.span).toEqual({ low: 180, high: 180 })
  })
  test('nothing moves', () => {
    expect(new WholeTime(kubevirt()).span).toBeUndefined()
  })
})
