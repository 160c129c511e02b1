import { expect, test } from 'vitest'
import type { VirtualMachine, VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { blockingOf } from '../../../src/lib/vms/unblock/unblock-vms.ts'
import { overrideStatus } from '../../../src/lib/vms/unblock/restore-vms.ts'
import { overrideAnnotation, overrideOf } from '../../../src/lib/vms/unblock/vm-overrides.ts'
import fixture from './blocking.json' with { type: 'json' }

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

const lentBy = (shape: Shape, vmi = instance(shape.eviction ?? 'LiveMigrate'), clusterEviction?: string) => {
  const blocking = blockingOf(machine(shape), vmi, { clusterEviction })
  return blocking.is === 'blocks' ? blocking.overrides.map(({ path, set }) => `${path} ${set}`) : blocking.is
}
const toNone = '/spec/template/spec/evictionStrategy None'

test.each(fixture.lent as unknown as [string, Shape, readonly string[] | string][])(
  'W1 %s',
  (_, shape, expected) => {
    expect(lentBy(shape, instance('LiveMigrate'))).toEqual(expected)
  },
)

test.each(fixture.others as unknown as [string, VirtualMachineInstance | null, string][])(
  '%s',
  (_, vmi, expected) => {
    expect(
      blockingOf(machine({ runStrategy: 'Always' }), vmi ?? undefined, { clusterEviction: undefined }).is,
    ).toBe(expected)
  },
)

test('without a strategy of its own the one of the cluster holds', () => {
  expect(lentBy({ runStrategy: 'Always' }, instance(undefined))).toBe('free')
  expect(lentBy({ runStrategy: 'Always' }, instance(undefined), 'LiveMigrate')).toEqual([toNone])
})

test.each(fixture.back as unknown as [string, Shape, VirtualMachineInstance | null, object][])(
  'W1 give back: %s',
  (_, shape, vmi, expected) => {
    expect(overrideStatus(machine(shape), vmi ?? undefined)).toMatchObject(expected)
  },
)

test.each(fixture.damaged)('a note that was damaged is refused, never guessed: %s', (text) => {
  const vm = machine({ runStrategy: 'Always', eviction: 'LiveMigrate', override: text })
  expect(overrideOf(vm)).toBe('unreadable')
  expect(overrideStatus(vm, instance(undefined))).toMatchObject({ is: 'unreadable' })
  expect(blockingOf(vm, instance('LiveMigrate'), { clusterEviction: undefined })).toMatchObject({
    is: 'refused',
    id: 'override-unreadable',
  })
})
