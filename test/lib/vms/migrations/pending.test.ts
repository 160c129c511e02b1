import { expect, test } from 'vitest'
import {
  backOffUntil,
  migrationLimits,
  type MigrationContext,
  whyPending,
} from '../../../../src/lib/vms/migrations/migration.ts'
import { ago, at, migration, type Shape } from './shapes.ts'
import fixture from './pending.json' with { type: 'json' }

const around: MigrationContext = {
  at,
  home: 'kubevirt',
  limits: { perCluster: 5, perNode: 2 },
  running: 1,
  node: 'node-1',
  uid: 'uid-of-vmi',
  runningFromNode: 0,
  backOffUntil: 0,
  failures: 0,
  livingPods: 1,
}
const reasons = (shape: Shape, more: Partial<MigrationContext> = {}) =>
  whyPending(migration(shape), { ...around, ...more }).map(({ reason }) => reason)

const unschedulable = (seconds: number) => ({
  name: 'virt-launcher-web-1-abc',
  createdAt: ago(seconds),
  trouble: {
    kind: 'unschedulable',
    reason: 'Unschedulable',
    message: '0/3 nodes are available',
    remedy: [],
  } as const,
})

test.each(fixture.rows as unknown as [string, Shape, Partial<MigrationContext>, string[]][])(
  '%s',
  (_, shape, more, expected) => {
    expect(reasons(shape, more)).toEqual(expected)
  },
)

test('limits that were not read hold nothing up', () => {
  const { limits: _, ...unread } = around
  expect(whyPending(migration(), { ...unread, running: 9 })).toMatchObject([{ reason: 'not-known' }])
})

test('a limit is said with its numbers and its field', () => {
  const [why] = whyPending(migration(), { ...around, running: 2, runningFromNode: 2 })
  expect(why?.sentence).toBe('2 migrations run away from node-1, and parallelOutboundMigrationsPerNode is 2')
})

test('a target pod that no node takes is given up 5 minutes after it was made, any other after 15', () => {
  const scheduling = migration({ phase: 'Scheduling' })
  const [full] = whyPending(scheduling, { ...around, target: unschedulable(60) })
  expect(full).toMatchObject({ until: ago(-240), sentence: expect.stringContaining('0/3 nodes') })
  const image = { kind: 'image', reason: 'ErrImagePull', message: '', remedy: [] } as const
  const [pull] = whyPending(scheduling, { ...around, target: { ...unschedulable(60), trouble: image } })
  expect(pull).toMatchObject({ reason: 'target-pod', until: ago(-840) })
})

test('annotations of the migration override both clocks', () => {
  const annotations = {
    'kubevirt.io/migrationUnschedulablePodTimeoutSeconds': '30',
    'kubevirt.io/migrationPendingPodTimeoutSeconds': '40',
  }
  const scheduling = migration({ phase: 'Scheduling', annotations })
  const [full] = whyPending(scheduling, { ...around, target: unschedulable(10) })
  expect(full?.until).toBe(ago(-20))
  const [slow] = whyPending(scheduling, { ...around, target: { name: 'x', createdAt: ago(10) } })
  expect(slow?.until).toBe(ago(-30))
})

test.each([
  [1, 20],
  [2, 40],
  [3, 80],
  [4, 160],
  [5, 320],
  [7, 320],
])('after %i failures in a row KubeVirt holds the next one back for %i s', (failures, seconds) => {
  const failed = Array.from({ length: failures }, (_, i) => migration({ phase: 'Failed', since: i * 60 }))
  expect(backOffUntil(failed) - at.getTime()).toBe(seconds * 1000)
})

test('what a person or kvup made is not held back, and does not count', () => {
  const annotations = {}
  expect(backOffUntil([migration({ phase: 'Failed', annotations, since: 1 })])).toBe(0)
  const kvup = { 'app.kubernetes.io/managed-by': 'kvup' }
  expect(backOffUntil([migration({ phase: 'Failed', labels: kvup, since: 1 })])).toBe(0)
})

const kubevirt = (migrations: object) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt' },
  spec: { configuration: { migrations } },
})

test('limits are those of the CR, else those of KubeVirt', () => {
  expect(migrationLimits(kubevirt({}))).toEqual({ perCluster: 5, perNode: 2 })
  expect(migrationLimits(kubevirt({ parallelMigrationsPerCluster: 9 }))).toEqual({
    perCluster: 9,
    perNode: 2,
  })
})

test('where KubeVirt does not say why, the last warning about the VM is told', () => {
  const [why] = whyPending(migration(), { ...around, warning: 'SyncFailed: no socket' })
  expect(why?.sentence).toBe(
    'KubeVirt does not say why; the last warning about its VM is SyncFailed: no socket',
  )
})

test('a mark of a drain that is over goes first, with what takes it away', () => {
  const leftBehind = { node: 'node-1', remedy: ['virtctl -n demo evacuate-cancel vmi web-1'] }
  const [why] = whyPending(migration({ phase: 'Scheduling' }), { ...around, leftBehind })
  expect(why).toMatchObject({ reason: 'left-behind', remedy: leftBehind.remedy })
})
