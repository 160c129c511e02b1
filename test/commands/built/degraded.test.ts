import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Leases } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { type ApiService, ApiServices } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { kvup } from '../in-process.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
afterEach(() => alive.stop())

const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 6, speed: 1 } as const
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

/** What was seen in the store, once it is so. */
async function until<T>(observed: () => T | undefined): Promise<T> {
  for (;;) {
    const found = observed()
    if (found !== undefined) return found
    await delay(100)
  }
}

async function expectDegraded(names: RegExp): Promise<void> {
  const status = await kvup(['status', '--exit-code'], alive)
  expect(status.code).toBe(3)
  expect(status.stdout).toMatch(/^KubeVirt v1\.7\.4 on sim: DEGRADED for /)
  expect(status.stdout).toMatch(names)
  expect(status.stdout).toMatch(/Next: kubectl /)
  const json = await kvup(['status', '-o', 'json', '--exit-code'], alive)
  expect(json.code).toBe(3)
  expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'Degraded', status: 'complete' })
}

test('virt-operator hangs: status watches its Lease, and an upgrade writes nothing', async () => {
  alive = await serveCluster({ ...shape, faults: { stopped: true } })
  const lease = { namespace: 'kubevirt', name: 'virt-operator' }
  // A short term, so that twice of it is not half a minute.
  const spec = { renewTime: ago(60), leaseDurationSeconds: 2 }
  alive.store.patch(Leases, lease, { type: 'merge', body: { spec } })
  await expectDegraded(/virt-operator is gone or stuck: .*did not renew its Lease within 4 s/)
  const status = await kvup(['status'], alive)
  expect(status.stderr).toContain('waiting up to 4 s for virt-operator to renew it')
  const before = alive.writes().length
  const upgrade = await kvup(['upgrade', '--to', 'v1.8.4', '--yes'], alive)
  expect(upgrade.code).toBe(3)
  expect(upgrade.stderr).toContain('virt-operator has no leader')
  expect(alive.writes().length).toBe(before)
})

test('the certificate of virt-api has ended: both APIs in one cause, and where its end can be seen', async () => {
  alive = await serveCluster({ ...shape, faults: { expired: ['virt-api'] } })
  for (const name of ['v1.subresources.kubevirt.io', 'v1alpha3.subresources.kubevirt.io']) {
    const conditions = await until(() => {
      const { status } = alive.store.read(ApiServices, { name }) as ApiService
      return status?.conditions?.[0]?.status === 'False' ? status.conditions : undefined
    })
    const earlier = conditions.map((one) => Object.assign({}, one, { lastTransitionTime: ago(60) }))
    alive.store.patch(
      ApiServices,
      { name },
      { type: 'merge', body: { status: { conditions: earlier } } },
      { on: 'status' },
    )
  }
  await expectDegraded(
    /no answer from APIServices v1\.subresources\.kubevirt\.io, v1alpha3\.subresources\.kubevirt\.io: .*certificate has expired/,
  )
  const upgrade = await kvup(['upgrade', '--to', 'v1.8.4', '--yes'], alive)
  expect(upgrade.code).toBe(3)
  expect(upgrade.stderr).toContain('certificate has expired')
})

test('0 of 6 VMs run, for one reason', async () => {
  expect.hasAssertions()
  alive = await serveCluster(shape)
  alive.cluster.faults.set({ unschedulable: '^virt-launcher-' })
  const { store } = alive
  for (const { metadata } of store.list(VirtualMachineInstances).items)
    store.remove(VirtualMachineInstances, metadata)
  const waiting = await until(() => {
    const items = store.list(VirtualMachineInstances).items as VirtualMachineInstance[]
    const told = items.filter(({ status }) => status?.conditions?.[0]?.type === 'PodScheduled')
    return told.length === 6 ? told : undefined
  })
  for (const { metadata, status } of waiting) {
    const conditions = status?.conditions?.map((one) =>
      Object.assign({}, one, { lastTransitionTime: ago(60) }),
    )
    store.patch(VirtualMachineInstances, metadata, { type: 'merge', body: { status: { conditions } } })
  }
  await expectDegraded(
    /6 of 6 VMs that should run are not running, for one reason: ErrorUnschedulable: 0\/\d nodes are available/,
  )
})
