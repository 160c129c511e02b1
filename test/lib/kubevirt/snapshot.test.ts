import { describe, expect, test } from 'vitest'
import type { Reader, Where } from '../../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../../src/lib/kube/object.ts'
import { type Part, statusParts, takeSnapshot, withParts } from '../../../src/lib/kubevirt/snapshot.ts'
import { LeaseWatch } from '../../../src/lib/kubevirt/lease-holders.ts'
import { statusReport } from '../../../src/lib/status/status-report.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { type Example, example } from './example.ts'

interface Call {
  resource: string
  where: Where
}

/** Notes each call and answers it from the example, or with the failure that is set for it. */
function watched({ reader }: Example, failures: Record<string, number> = {}) {
  const calls: Call[] = []
  const note = (kind: Kind, where: Where = {}) => {
    calls.push({ resource: kind.plural, where })
    const status = failures[`${kind.plural}@${kind.apiVersion}`] ?? failures[kind.plural]
    if (status !== undefined) throw new ApiError(status, 'x', `${kind.plural}: ${status}`)
  }
  const observed: Reader = {
    ...reader,
    get: (kind, ref) => reader.get(kind, ref),
    async list<T extends KubeObject>(kind: Kind<T>, where?: Where) {
      note(kind, where)
      return reader.list(kind, where)
    },
    async *pages<T extends KubeObject>(kind: Kind<T>, where?: Where) {
      note(kind, where)
      yield* reader.pages(kind, where)
    },
    async versions(group: string) {
      calls.push({ resource: `versions of ${group}`, where: {} })
      return reader.versions(group)
    },
  }
  return { reader: observed, calls }
}

const now = new Date('2026-12-03T07:31:29Z')
const clock = { now: () => now }
const all: readonly Part[] = [...statusParts, 'nodes', 'events', 'migrations', 'workloads']
const world = example('healthy')

test('what was not asked for is not read and not known', async () => {
  const { reader, calls } = watched(world)
  const snapshot = await takeSnapshot(reader, ['daemonsets'], clock)
  expect(calls.map((call) => call.resource).toSorted()).toEqual(['daemonsets', 'deployments', 'kubevirts'])
  expect(snapshot.pods).toEqual({ known: false, why: 'not asked for' })
  expect(snapshot.takenAt).toBe('2026-12-03T07:31:29.000Z')
})

test('lists are narrowed to the namespace and the labels, one call per part', async () => {
  const { reader, calls } = watched(world)
  await takeSnapshot(reader, statusParts, clock)
  expect(calls).toHaveLength(2 + statusParts.length)
  const narrow = calls.filter((call) => call.resource !== 'kubevirts')
  expect(narrow.every((call) => call.where.namespace === 'kubevirt')).toBe(true)
  expect(calls.find((call) => call.resource === 'pods')?.where.labels).toBe(
    'kubevirt.io!=virt-launcher,kubevirt.io!=hotplug-disk',
  )
})

test('a settled status costs no more than fifteen reads, the migrations among them, and looks for no causes', async () => {
  const { reader, calls } = watched(world)
  const report = await statusReport(reader, world.clock, { leases: new LeaseWatch() })
  expect(report.verdict).toBe('Healthy')
  const reads = calls.filter((call) => !call.resource.startsWith('versions'))
  expect(reads.length).toBeLessThanOrEqual(15)
  expect(calls.map((call) => call.resource)).not.toContain('nodes')
})

test('that a plain cluster has no layers costs one discovery of a group, beside the first read', async () => {
  const { reader, calls } = watched(world)
  const report = await statusReport(reader, world.clock)
  expect(report).not.toHaveProperty('layers')
  const resources = calls.map((call) => call.resource)
  expect(resources.slice(0, 2).toSorted()).toEqual(['kubevirts', 'versions of config.openshift.io'])
  expect(resources.filter((resource) => resource.startsWith('versions'))).toHaveLength(1)
})

describe('403 and 404 make a part unknown, and say why', () => {
  test.each([...all].filter((part) => part !== 'serverVersion'))('%s', async (part) => {
    const resources: Partial<Record<Part, string>> = {
      replicaSets: 'replicasets',
      migrations: 'virtualmachineinstancemigrations',
      workloads: 'virtualmachineinstances',
    }
    const resource = resources[part] ?? part
    for (const status of [403, 404]) {
      const { reader } = watched(world, { [resource]: status })
      const snapshot = await takeSnapshot(reader, all, clock)
      expect(snapshot[part]).toEqual({ known: false, why: `${resource}: ${status}` })
      expect(snapshot.kubevirts.known).toBe(true)
    }
  })

  test('deployments, and with them the operators', async () => {
    const { reader } = watched(world, { deployments: 403 })
    const { deployments, operators } = await takeSnapshot(reader, [], clock)
    expect([deployments.known, operators.known]).toEqual([false, false])
  })
})

test.each([401, 500, 0])('%i is thrown on: it is no answer about a part', async (status) => {
  for (const resource of ['pods', 'nodes', 'kubevirts']) {
    const { reader } = watched(world, { [resource]: status })
    await expect(takeSnapshot(reader, all, clock)).rejects.toMatchObject({ status })
  }
})

test('night U7: the KubeVirt is read as v1alpha3 where v1 is not served', async () => {
  const { reader, calls } = watched(world, { 'kubevirts@kubevirt.io/v1': 404 })
  const { kubevirts } = await takeSnapshot(reader, [], clock)
  expect(calls.filter((call) => call.resource === 'kubevirts')).toHaveLength(2)
  expect(kubevirts).toMatchObject({ known: true, items: [{ metadata: { name: 'kubevirt' } }] })
})

test('no KubeVirt kind at all is no KubeVirt, not an unknown one', async () => {
  const { reader } = watched(world, { kubevirts: 404 })
  expect((await takeSnapshot(reader, [], clock)).kubevirts).toEqual({ known: true, items: [] })
})

test('a known namespace saves the first round trip', async () => {
  const order: string[] = []
  const slow: Reader = {
    ...world.reader,
    async list<T extends KubeObject>(kind: Kind<T>, where?: Where) {
      order.push(`${kind.plural} asked`)
      const found = await world.reader.list(kind, where)
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`${kind.plural} answered`)
      return found
    },
  }
  await takeSnapshot(slow, ['pods'], clock, 'kubevirt')
  expect(order.slice(0, 3).toSorted()).toEqual(['deployments asked', 'kubevirts asked', 'pods asked'])
})

test('more parts are added to the same look', async () => {
  const quick = await takeSnapshot(world.reader, statusParts, clock)
  const { reader, calls } = watched(world)
  const more = await withParts(reader, quick, ['nodes', 'events'])
  expect(calls.map((call) => call.resource).toSorted()).toEqual(['events', 'nodes'])
  expect(more.pods).toBe(quick.pods)
  expect(more.nodes.known).toBe(true)
})

test('unfinished migrations only, and instances by label', async () => {
  const { reader } = example('hyperconverged-with-an-outdated-vm')
  const { workloads, migrations } = await takeSnapshot(reader, ['workloads', 'migrations'], clock)
  expect(workloads).toEqual({ known: true, items: [{ instances: 3, outdated: 1 }] })
  expect(migrations).toEqual({ known: true, items: [] })
})

const vmi = (name: string, labels = {}) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: 'shop', labels },
})

test('of many instances the first page says how many are left, and the outdated ones are listed by label', async () => {
  const asked: Where[] = []
  const outdated = { 'kubevirt.io/outdatedLauncherImage': '' }
  const many = {
    ...watched(world).reader,
    async *pages(_kind: Kind, where: Where = {}) {
      asked.push(where)
      if (where.labels === undefined)
        yield { items: [vmi('a'), vmi('b', outdated)], remaining: 9998, resourceVersion: '1' }
      if (where.labels === undefined) throw new Error('the second page is not needed')
      yield { items: [vmi('b', outdated), vmi('y', outdated)], resourceVersion: '1' }
      yield { items: [vmi('z', outdated)], resourceVersion: '1' }
    },
  } as Reader
  const { workloads } = await takeSnapshot(many, ['workloads'], clock)
  expect(workloads).toEqual({ known: true, items: [{ instances: 10_000, outdated: 3 }] })
  expect(asked.map(({ labels }) => labels)).toEqual([undefined, 'kubevirt.io/outdatedLauncherImage'])
})
