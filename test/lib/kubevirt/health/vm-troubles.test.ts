import { expect, test } from 'vitest'
import type { Reader } from '../../../../src/lib/kube/cluster.ts'
import type { VirtualMachine, VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { seeVms, vmCauses } from '../../../../src/lib/kubevirt/diagnosis/vm-troubles.ts'
import { vmTroubleLines } from '../../../../src/lib/output/views/report-lines.ts'
import fixture from './vm-troubles.json' with { type: 'json' }

const now = new Date('2026-11-21T10:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()

const vm = (
  name: string,
  spec: VirtualMachine['spec'] = { runStrategy: 'Always' },
  status: VirtualMachine['status'] = { printableStatus: 'Running' },
): VirtualMachine => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name, namespace: 'demo', creationTimestamp: ago(9000) },
  spec,
  status,
})
const vmi = (
  name: string,
  status: VirtualMachineInstance['status'] = { phase: 'Running', nodeName: 'worker-1' },
  age = 9000,
): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: 'demo', creationTimestamp: ago(age) },
  status,
})

const unscheduled = (age = 600) => ({
  type: 'PodScheduled',
  status: 'False' as const,
  reason: 'Unschedulable',
  message: '0/3 nodes are available: 3 Insufficient memory.',
  lastTransitionTime: ago(age),
})

function reading(
  vms: readonly VirtualMachine[],
  vmis: readonly VirtualMachineInstance[],
  asked: string[] = [],
): Reader {
  async function* pages({ plural }: { plural: string }, { labels = '', pageSize = 500 } = {}) {
    asked.push(`${plural} ${labels}`.trim())
    const all =
      plural === 'virtualmachines' ? vms : vmis.filter((one) => labels === '' || !one.status?.nodeName)
    for (let from = 0; from < all.length || from === 0; from += pageSize) {
      const items = all.slice(from, from + pageSize)
      const remaining = all.length - from - items.length
      yield { items, resourceVersion: '1', ...(remaining > 0 && { remaining }) }
    }
  }
  return { pages } as unknown as Reader
}

const see = async (vms: readonly VirtualMachine[], vmis: readonly VirtualMachineInstance[]) =>
  (await seeVms(reading(vms, vmis), now)).troubles

test.each(
  fixture.rows as unknown as [string, VirtualMachine | null, VirtualMachineInstance | null, string | null][],
)('%s', async (_name, oneVm, instance, status) => {
  const found = await see(oneVm ? [oneVm] : [], instance ? [instance] : [])
  expect(found.reasons.map((reason) => reason.status)).toEqual(status === null ? [] : [status])
  expect(found.count).toBe(status === null ? 0 : 1)
})

const many = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i + 100}`)
const broken = (name: string, message = `no room for ${name} of demo (virt-launcher-${name}-x7kq2)`) =>
  [
    vm(name, undefined, { printableStatus: 'ErrorUnschedulable' }),
    vmi(name, { phase: 'Scheduling', conditions: [{ ...unscheduled(), message }] }),
  ] as const

test('one reason is one line, whatever the names in it; texts of tenants are cut and on one line', async () => {
  const names = many(3, 'web-')
  const found = await see(
    [...names.map((name) => broken(name)[0]), broken('odd')[0]],
    [...names.map((name) => broken(name)[1]), broken('odd', `one\n✔ all is well ${'x'.repeat(5000)}`)[1]],
  )
  expect(found.reasons).toHaveLength(2)
  expect(found.reasons[0]).toMatchObject({
    status: 'ErrorUnschedulable',
    message: 'no room for … of … (its virt-launcher)',
    count: 3,
    examples: ['demo/web-100', 'demo/web-101', 'demo/web-102'],
    since: ago(600),
  })
  expect(found.reasons[1]?.message).not.toContain('\n')
  expect(found.reasons[1]?.message.length).toBeLessThan(800)
  expect(vmTroubleLines(found)[0]).toBe('4 of 4 VMs that should run are not running as they should')
})

test('one of 200 is a line and no cause; most of the cluster is one; three of four on a node are', async () => {
  const fine = many(199, 'vm-')
  const one = await see(
    [...fine.map((name) => vm(name)), broken('bad')[0]],
    [...fine.map((name) => vmi(name)), broken('bad')[1]],
  )
  expect(one).toMatchObject({ shouldRun: 200, count: 1 })
  expect(vmCauses(one, now)).toEqual([])
  const six = many(6, 'web-').map((name) => broken(name))
  const all = await see(
    six.map(([oneVm]) => oneVm),
    six.map(([, instance]) => instance),
  )
  expect(vmCauses(all, now)).toMatchObject([{ kind: 'vms', reason: 'ErrorUnschedulable', since: ago(600) }])
  expect(vmCauses(all, now)[0]?.sentence).toMatch(
    /^6 of 6 VMs that should run are not running, for one reason: /,
  )
  const out = {
    type: 'Synchronized',
    status: 'False' as const,
    reason: 'SyncFailed',
    message: 'no socket',
    lastTransitionTime: ago(60),
  }
  const here = many(3, 'here-').map((name) =>
    vmi(name, { phase: 'Running', nodeName: 'worker-2', conditions: [out] }),
  )
  const node = await see(
    [...fine, 'fourth', ...many(3, 'here-')].map((name) => vm(name)),
    [...fine.map((name) => vmi(name)), vmi('fourth', { phase: 'Running', nodeName: 'worker-2' }), ...here],
  )
  expect(vmCauses(node, now)).toMatchObject([{ nodes: ['worker-2'] }])
})

test('two VMs that fail are no mass, and one that began ten seconds ago is none yet', async () => {
  const two = many(2, 'web-').map((name) => broken(name))
  const found = await see(
    two.map(([oneVm]) => oneVm),
    two.map(([, instance]) => instance),
  )
  expect(vmCauses(found, now)).toEqual([])
  const young = many(6, 'web-').map(
    (name) =>
      [
        vm(name, undefined, { printableStatus: 'ErrorUnschedulable' }),
        vmi(name, { phase: 'Scheduling', conditions: [unscheduled(10)] }, 12),
      ] as const,
  )
  const fresh = await see(
    young.map(([oneVm]) => oneVm),
    young.map(([, instance]) => instance),
  )
  expect(fresh.count).toBe(6)
  expect(vmCauses(fresh, now)).toEqual([])
})

test.each(fixture.since as unknown as [string, VirtualMachineInstance['status'], string | null][])(
  'the age of a trouble: %s',
  async (_, status, from) => {
    const { reasons } = await see([vm('a', undefined, { printableStatus: 'Starting' })], [vmi('a', status)])
    expect(reasons).toHaveLength(1)
    expect(reasons[0]?.since).toBe(from ?? undefined)
  },
)

test('of 10,000 VMs a first page, and what no node has taken yet: the rest is said to be left out', async () => {
  const names = many(10_000, 'vm-')
  const asked: string[] = []
  const reader = reading(
    names.map((name) => vm(name)),
    [...names.map((name) => vmi(name)), broken('bad')[1]],
    asked,
  )
  const { troubles } = await seeVms(reader, now)
  expect(troubles).toMatchObject({ count: 1, reasons: [{ status: 'Scheduling', examples: ['demo/bad'] }] })
  expect(troubles.shouldRun).toBeUndefined()
  expect(troubles.partly).toContain('more than 1000 VMs')
  expect(asked.toSorted()).toEqual([
    'virtualmachineinstances',
    'virtualmachineinstances !kubevirt.io/nodeName',
    'virtualmachines',
  ])
})
