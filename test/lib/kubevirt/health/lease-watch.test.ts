import { expect, test } from 'vitest'
import type { Reader } from '../../../../src/lib/kube/cluster.ts'
import type { Lease } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { LeaseWatch } from '../../../../src/lib/kubevirt/lease-holders.ts'
import type { Clock } from '../../../../src/lib/kube/clock.ts'

const begin = Date.parse('2026-11-21T10:00:00Z')
const second = 1000
const at = (seconds: number) => new Date(begin + seconds * second).toISOString()

class RunEnvironment implements Clock {
  seconds = 0
  now = () => new Date(begin + this.seconds * second)
  sleep = async (ms: number) => void (this.seconds += ms / second)
}

const lease = (name: string, renewed: string, more: Lease['spec'] = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace: 'kubevirt', uid: name },
  spec: { holderIdentity: `${name}-1`, leaseDurationSeconds: 15, renewTime: renewed, ...more },
})

/** What is asked for while it is watched: as it is at that second. */
const reading = (clock: RunEnvironment, leaseAt: (seconds: number) => Lease) =>
  ({
    get: async (_kind: unknown, { name }: { name: string }) => {
      const object = leaseAt(clock.seconds)
      return name === object.metadata.name ? { is: 'object', object } : { is: 'absent' }
    },
  }) as unknown as Reader

const settle = async (leaseAt: (seconds: number) => Lease) => {
  const clock = new RunEnvironment()
  const told: string[] = []
  const silent = await new LeaseWatch().settle([leaseAt(0)], {
    namespace: 'kubevirt',
    reader: reading(clock, leaseAt),
    clock,
    told: (line) => told.push(line),
  })
  return { silent, took: clock.seconds, told }
}

test('a Lease within its term is not watched', async () => {
  const { silent, took, told } = await settle(() => lease('virt-operator', at(-14)))
  expect([silent, took, told]).toEqual([[], 0, []])
})

test('one that is older is silent only once it was watched for twice its term', async () => {
  const { silent, took, told } = await settle(() => lease('virt-operator', at(-16)))
  expect(silent).toEqual([
    {
      name: 'virt-operator',
      namespace: 'kubevirt',
      holder: 'virt-operator-1',
      renewed: at(-16),
      watchedFor: 30,
    },
  ])
  expect(took).toBe(30)
  expect(told).toHaveLength(1)
})

test('its own term counts: 60 s are watched for 120 s', async () => {
  const { silent, took } = await settle(() => lease('virt-controller', at(-61), { leaseDurationSeconds: 60 }))
  expect(silent).toMatchObject([{ name: 'virt-controller', watchedFor: 120 }])
  expect(took).toBe(120)
})

test('a wrong clock of its node is told from it by the first renewal', async () => {
  const { silent, took } = await settle((s) => lease('virt-operator', at(-7200 + Math.floor(s / 4) * 4)))
  expect(silent).toEqual([])
  expect(took).toBe(4)
})

test('another leader that takes it over is a change as well', async () => {
  const { silent, took } = await settle((s) =>
    lease('virt-operator', at(-20), s < 17 ? {} : { holderIdentity: 'virt-operator-2', renewTime: at(s) }),
  )
  expect(silent).toEqual([])
  expect(took).toBe(17)
})

test('who looks again and again need not wait; a time in which nobody looked counts little, for the API server may have been away', () => {
  const [watch, clock] = [new LeaseWatch(), new RunEnvironment()]
  const silent = () => watch.read([lease('virt-operator', at(0))], 'kubevirt', clock)
  expect(silent()).toEqual([])
  clock.seconds = 600
  expect(silent()).toEqual([])
  for (clock.seconds = 605; clock.seconds < 620; clock.seconds += 5) expect(silent()).toEqual([])
  clock.seconds = 620
  expect(silent()).toMatchObject([{ name: 'virt-operator' }])
  expect(watch.read([lease('virt-operator', at(621))], 'kubevirt', clock)).toEqual([])
})

test('nobody holds it, others of that name, other Leases: not judged here', () => {
  const clock = new RunEnvironment()
  const others = [
    lease('virt-operator', at(-999), { holderIdentity: '' }),
    { ...lease('virt-controller', at(-999)), metadata: { name: 'virt-controller', namespace: 'other' } },
    lease('kvup', at(-999)),
  ]
  const watch = new LeaseWatch()
  for (; clock.seconds < 100; clock.seconds += 5) expect(watch.read(others, 'kubevirt', clock)).toEqual([])
})

test('where time stands still nothing is claimed, and it is known that nothing is known', async () => {
  const still: Clock = { now: () => new Date(begin), sleep: async () => undefined }
  const watch = new LeaseWatch()
  const old = lease('virt-operator', at(-3600))
  const reader = reading(new RunEnvironment(), () => old)
  expect(await watch.settle([old], { namespace: 'kubevirt', reader, clock: still })).toEqual([])
  expect(watch.isUndecided(still)).toBe(true)
})
