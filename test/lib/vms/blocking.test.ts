import { expect, test } from 'vitest'
import type { VirtualMachine, VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { blockingOf } from '../../../src/lib/vms/unblock/unblock-vms.ts'
import { overrideStatus } from '../../../src/lib/vms/unblock/restore-vms.ts'
import { overrideAnnotation, overrideOf } from '../../../src/lib/vms/unblock/vm-overrides.ts'

const apiVersion = 'kubevirt.io/v1'
const metadata = { name: 'db', namespace: 'shop' }

interface Shape {
  runStrategy?: string
  running?: boolean
  /** Of the VM; of the running instance too, unless that has one of its own. */
  eviction?: string
  override?: string
  owner?: string
}

function machine({ runStrategy, running, eviction, override, owner }: Shape): VirtualMachine {
  const ownerReferences = [
    { apiVersion, kind: 'VirtualMachinePool', name: owner ?? '', uid: 'u', controller: true },
  ]
  return {
    apiVersion,
    kind: 'VirtualMachine',
    metadata: {
      ...metadata,
      ...(override !== undefined && { annotations: { [overrideAnnotation]: override } }),
      ...(owner !== undefined && { ownerReferences }),
    },
    spec: {
      ...(runStrategy !== undefined && { runStrategy }),
      ...(running !== undefined && { running }),
      template: { spec: { ...(eviction !== undefined && { evictionStrategy: eviction }) } },
    },
  }
}

type Status = 'True' | 'False' | 'Unknown'

function instance(
  eviction: string | undefined,
  migratable: Status = 'False',
  phase = 'Running',
): VirtualMachineInstance {
  return {
    apiVersion,
    kind: 'VirtualMachineInstance',
    metadata,
    spec: { ...(eviction !== undefined && { evictionStrategy: eviction }) },
    status: {
      phase,
      conditions: [{ type: 'LiveMigratable', status: migratable, reason: 'DisksNotLiveMigratable' }],
    },
  }
}

const evictionPath = '/spec/template/spec/evictionStrategy'
const lentBy = (shape: Shape, vmi = instance(shape.eviction ?? 'LiveMigrate'), clusterEviction?: string) => {
  const blocking = blockingOf(machine(shape), vmi, { clusterEviction })
  return blocking.is === 'blocks' ? blocking.overrides.map(({ path, set }) => `${path} ${set}`) : blocking.is
}
const [toNone, toAlways] = [`${evictionPath} None`, '/spec/runStrategy Always']

test.each<[string, Shape, readonly string[] | string]>([
  ['Always comes back', { runStrategy: 'Always', eviction: 'LiveMigrate' }, [toNone]],
  ['running: true counts as Always and is left alone', { running: true, eviction: 'LiveMigrate' }, [toNone]],
  [
    'RerunOnFailure would not come back',
    { runStrategy: 'RerunOnFailure', eviction: 'LiveMigrate' },
    [toNone, toAlways],
  ],
  ['Manual would not', { runStrategy: 'Manual', eviction: 'LiveMigrate' }, [toNone, toAlways]],
  ['Once would not', { runStrategy: 'Once', eviction: 'LiveMigrate' }, [toNone, toAlways]],
  ['Halted is being stopped', { runStrategy: 'Halted', eviction: 'LiveMigrate' }, 'refused'],
  ['the strategy came from the cluster', { runStrategy: 'Always' }, [toNone]],
  ['None already on the VM, not on what runs', { runStrategy: 'Always', eviction: 'None' }, 'unblocked'],
  ['a pool would undo it', { runStrategy: 'Always', eviction: 'LiveMigrate', owner: 'pool' }, 'refused'],
])('W1 %s', (_, shape, expected) => {
  expect(lentBy(shape, instance('LiveMigrate'))).toEqual(expected)
})

test.each<[string, VirtualMachineInstance | undefined, string]>([
  ['W1 only what runs', undefined, 'free'],
  ['W1 only what runs', instance('LiveMigrate', 'False', 'Succeeded'), 'free'],
  ['can be migrated', instance('LiveMigrate', 'True'), 'free'],
  ['can be evicted', instance('None'), 'free'],
  ['can be evicted', instance('LiveMigrateIfPossible'), 'free'],
  ['somebody else moves it', instance('External'), 'refused'],
  ['not judged yet', instance('LiveMigrate', 'Unknown'), 'refused'],
])('%s', (_, vmi, expected) => {
  expect(blockingOf(machine({ runStrategy: 'Always' }), vmi, { clusterEviction: undefined }).is).toBe(
    expected,
  )
})

test('without a strategy of its own the one of the cluster holds', () => {
  expect(lentBy({ runStrategy: 'Always' }, instance(undefined))).toBe('free')
  expect(lentBy({ runStrategy: 'Always' }, instance(undefined), 'LiveMigrate')).toEqual([toNone])
})

const override = (...fields: object[]) =>
  JSON.stringify({ by: 'jane@host', at: '2026-11-20T07:00:00Z', fields })
const eviction = (was: object = { present: false }) => ({ path: evictionPath, was, set: 'None' })
const manual = { path: '/spec/runStrategy', was: { present: true, value: 'Manual' }, set: 'Always' }

test.each<[string, Shape, VirtualMachineInstance | undefined, object]>([
  [
    'as it was lent',
    { runStrategy: 'Always', eviction: 'None', override: override(eviction(), manual) },
    instance('None'),
    { is: 'to-restore', fields: [{}, {}] },
  ],
  [
    'set back by a person already',
    { runStrategy: 'Manual', override: override(eviction(), manual) },
    undefined,
    { is: 'to-restore', fields: [] },
  ],
  [
    'changed meanwhile',
    { runStrategy: 'Always', eviction: 'External', override: override(eviction()) },
    instance('None'),
    { is: 'asks', id: 'changed-meanwhile' },
  ],
  [
    'it does not run: its run strategy could start it, or keep it down',
    { runStrategy: 'Always', eviction: 'None', override: override(eviction(), manual) },
    undefined,
    { is: 'asks', id: 'vm-not-running' },
  ],
  [
    'it does not run, and nothing that is given back could start or stop it',
    { runStrategy: 'Always', eviction: 'None', override: override(eviction()) },
    undefined,
    { is: 'to-restore', fields: [{}] },
  ],
])('W1 give back: %s', (_, shape, vmi, expected) => {
  expect(overrideStatus(machine(shape), vmi)).toMatchObject(expected)
})

test.each([
  '',
  '{}',
  'null',
  '[]',
  override({ path: '/metadata/name', was: { present: false }, set: 'x' }),
  override({ ...manual, was: { present: true } }),
  override({ ...manual, was: { present: true, value: 'Halted' } }),
  override({ ...manual, was: { present: false } }),
  override({ ...manual, set: 'Halted' }),
  override({ ...manual, was: null }),
  override({ ...manual, path: ['/spec/runStrategy'] }),
  override({ ...manual, path: '__proto__' }),
  override({ ...eviction(), set: 'LiveMigrate' }),
  override(eviction()).replace('2026-11-20T', 'soon'),
])('a note that was damaged is refused, never guessed: %s', (text) => {
  const vm = machine({ runStrategy: 'Always', eviction: 'LiveMigrate', override: text })
  expect(overrideOf(vm)).toBe('unreadable')
  expect(overrideStatus(vm, instance(undefined))).toMatchObject({ is: 'unreadable' })
  expect(blockingOf(vm, instance('LiveMigrate'), { clusterEviction: undefined })).toMatchObject({
    is: 'refused',
    id: 'override-unreadable',
  })
})
