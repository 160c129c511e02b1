import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { Vms } from '../../../../src/lib/vms/vm.ts'
import { type FleetRules, readFleet } from '../../../../src/lib/vms/waves/update-fleet.ts'
import { whatTheyShare } from '../../../../src/lib/vms/update-guard.ts'
import type { UpdateWanted } from '../../../../src/lib/vms/waves/update-run.ts'
import { aVmi } from '../outdated/a-vmi.ts'

const wanted = {
  selection: {},
  exclude: new Set(),
  include: new Set(['shop/again']),
  waveBy: { is: 'one' },
  restart: true,
} as unknown as UpdateWanted
const rules: FleetRules = {
  methods: ['LiveMigrate'],
  clusterEviction: undefined,
  nodes: 3,
  failedBefore: new Map(),
  busy: new Map([['shop/busy', 'VirtualMachineSnapshot s is InProgress']]),
  stranded: async ({ metadata }) =>
    metadata.name === 'stranded' ? 'no node can take it again: 3 cordoned' : undefined,
}
const named = (name: string, more: Parameters<typeof aVmi>[0] = {}): VirtualMachineInstance => {
  const vmi = aVmi({ migratable: 'False', reason: 'DisksNotLiveMigratable', ...more })
  const ownerReferences = vmi.metadata.ownerReferences?.map((owner) => ({ ...owner, name }))
  return {
    ...vmi,
    metadata: { ...vmi.metadata, name, uid: name, ...(ownerReferences && { ownerReferences }) },
  }
}

/** `runStrategy` of each VM; one that is not named there may not be read. */
async function fleetOf(vmis: readonly VirtualMachineInstance[], strategies: Record<string, string>) {
  const reader = {
    async *pages() {
      yield { items: vmis }
    },
    get: async (_: unknown, { name }: { name: string }) => {
      const runStrategy = strategies[name]
      if (runStrategy === undefined) throw new ApiError(403, 'Forbidden', 'jane may not')
      return { is: 'object', object: { metadata: { name }, spec: { runStrategy } } }
    },
  } as never
  const { candidates, left, unread } = await readFleet(reader, wanted, rules, new Vms(reader))
  const begun = [...candidates.values()].map(
    ({ vm, by, onlyOnce }) => `${vm} ${by}${onlyOnce ? ' only once' : ''}`,
  )
  return { begun, left: [...left.values()].map(({ vm, why }) => `${vm}: ${why}`), unread }
}

const why = 'not migratable: a disk is not shared (DisksNotLiveMigratable)'

test('W3 a restart is refused for Halted and Once: they are left out by name, and the others are asked for', async () => {
  const all = { a: 'Always', h: 'Halted', o: 'Once', m: 'Manual' }
  const { begun, left } = await fleetOf(
    Object.keys(all).map((name) => named(name)),
    all,
  )
  expect(begun).toEqual(['shop/a restart', 'shop/m restart only once'])
  expect(left).toEqual([
    `shop/h: ${why}; runStrategy Halted allows no restart`,
    `shop/o: ${why}; runStrategy Once allows no restart`,
  ])
})

test('W2 a bare VMI would be lost: it is never restarted, and one that no node would take is left with the reason', async () => {
  const { begun, left } = await fleetOf([named('bare', { owner: 'none' }), named('stranded')], {
    stranded: 'Always',
  })
  expect(begun).toEqual([])
  expect(left).toEqual([
    `shop/bare: ${why}; it has no VM, and would be lost`,
    `shop/stranded: ${why}; no node can take it again: 3 cordoned`,
  ])
})

test('contract: a VM that may not be read is not taken for none, and that is told', async () => {
  const { left, unread } = await fleetOf([named('hidden')], {})
  expect(left).toEqual([`shop/hidden: ${why}; kvup may not read its VM: jane may not`])
  expect(unread).toEqual([{ namespace: 'shop', what: 'virtualmachines', why: 'jane may not' }])
})

test('a VM whose disks are being copied is not moved now', async () => {
  const { begun, left } = await fleetOf([named('busy', { migratable: 'True' })], {})
  expect([begun, left]).toEqual([
    [],
    ['shop/busy: VirtualMachineSnapshot s is InProgress: it is moved after that'],
  ])
})

test('W5 VMs that fail are grouped by node, machine type and CPU model, the largest group first', async () => {
  const shapes: Record<string, [string, string | undefined, string | undefined]> = {
    'shop/a': ['node-1', 'q35', undefined],
    'shop/b': ['node-2', 'q35', 'Skylake'],
    'shop/c': ['node-2', 'q35', 'Skylake'],
  }
  const find = async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
    const [nodeName, type, model] = shapes[`${namespace}/${name}`] ?? ['', undefined, undefined]
    const domain = { ...(type && { machine: { type } }), ...(model && { cpu: { model } }) }
    return { is: 'object', object: { metadata: { name }, spec: { domain }, status: { nodeName } } }
  }
  expect(await whatTheyShare({ get: find } as never, Object.keys(shapes))).toEqual([
    '2 on node-2 with machine q35 and CPU Skylake',
    '1 on node-1 with machine q35 and CPU of the default model',
  ])
})
