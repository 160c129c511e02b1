import { afterAll, beforeAll, expect, test } from 'vitest'
import { outdatedUnseen } from '../../src/commands/wait.ts'
import type { Cluster, Reader } from '../../src/lib/kube/cluster.ts'
import type { Lease } from '../../src/lib/kube/kinds/core-kinds.ts'
import type { VirtualMachineInstance } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'

const clock = new SimClock()
let simulated: SimulatedCluster
let cluster: Cluster

beforeAll(async () => {
  simulated = await simulate({ clock, version: 'v1.8.4', vms: 2 })
  cluster = simulated.cluster()
})
afterAll(() => simulated.stop())

/** The cluster, but every object of one kind is seen changed. */
function seen<T extends KubeObject>(kind: string, change: (object: T) => T): Reader {
  const { reader } = cluster
  const changed = <O extends KubeObject>(object: O): O =>
    object.kind === kind ? (change(structuredClone(object) as unknown as T) as unknown as O) : object
  return {
    ...reader,
    list: async (what, where) => (await reader.list(what, where)).map(changed),
    async *pages(what, where) {
      for await (const page of reader.pages(what, where)) yield { ...page, items: page.items.map(changed) }
    },
  }
}

test('of a settled cluster everything is seen', async () => {
  expect(await outdatedUnseen(cluster.reader, clock, { isOver: false })).toBeUndefined()
})

test('while an old virt-controller leads, a count of 0 says nothing', async () => {
  const reader = seen<Lease>('Lease', (lease) =>
    lease.metadata.name === 'virt-controller'
      ? { ...lease, spec: { ...lease.spec, holderIdentity: 'virt-controller-old-x' } }
      : lease,
  )
  expect(await outdatedUnseen(reader, clock, { isOver: false })).toContain('to take its Lease')
  // Two minutes behind KubeVirt being done: what is labelled is counted, whoever leads.
  expect(await outdatedUnseen(reader, clock, { isOver: true })).toBeUndefined()
})

test('an old launcher that is not labelled yet counts', async () => {
  const reader = seen<VirtualMachineInstance>('VirtualMachineInstance', (vmi) => ({
    ...vmi,
    status: { ...vmi.status, launcherContainerImageVersion: 'quay.io/kubevirt/virt-launcher:v1.7.4' },
  }))
  expect(await outdatedUnseen(reader, clock, { isOver: false })).toContain('to label 2 outdated VMIs')
})
