import { expect, test } from 'vitest'
import type { Page, Reader } from '../../../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../../../src/lib/kube/object.ts'
import { readAhead } from '../../../../src/lib/kube/read-cache.ts'
import { openDataJobs, activeOthers } from '../../../../src/lib/kubevirt/cluster-activity.ts'
import { foldInstances } from '../../../../src/lib/kubevirt/snapshot.ts'
import { readyEndpoints } from '../../../../src/lib/kubevirt/diagnosis/health.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import fixture from './bounded.json' with { type: 'json' }

const vmis = 20_000

function vmi(index: number): KubeObject {
  const status = {
    phase: 'Running',
    nodeName: `node-${index % 200}`,
    launcherContainerImageVersion: 'quay.io/kubevirt/virt-launcher:v1.8.4',
    conditions: [{ type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable' }],
  }
  const metadata = { name: `machine-${index}`, namespace: `team-${index % 40}` }
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, status } as KubeObject
}

test('contract "Facts at scale": VMIs are folded page by page, two pages at most at once, under 200 bytes a VM', async () => {
  let pages = 0
  let made = 0
  async function* all(): AsyncGenerator<Page<KubeObject>> {
    for (; made < vmis; made += 500) {
      const items = Array.from({ length: 500 }, (_, i) => vmi(made + i))
      pages++
      yield { items, resourceVersion: '' }
    }
  }
  const { tally, namespaces } = await foldInstances({ pages: all } as unknown as Reader)
  expect(tally).toMatchObject({ total: vmis, running: vmis, notMigratable: { count: vmis } })
  expect(namespaces.size).toBe(40)
  expect(pages).toBe(40)
  expect(JSON.stringify(tally).length).toBeLessThan(200 * 100)
})

test('the next page is asked for before this one is worked on, and never two more', async () => {
  let asked = 0
  async function* source(): AsyncGenerator<Page<number>> {
    while (asked < 5) yield { items: [asked++], resourceVersion: '' }
  }
  const observed: [number, number][] = []
  for await (const { items } of readAhead(source())) observed.push([items[0] ?? -1, asked])
  expect(observed).toEqual([
    [0, 2],
    [1, 3],
    [2, 4],
    [3, 5],
    [4, 5],
  ])
})

async function* failing(): AsyncGenerator<Page<number>> {
  yield { items: [1], resourceVersion: '' }
  throw new ApiError(500, 'x', 'gone')
}

test('a page that fails fails the reading, after the pages before it', async () => {
  const observed: unknown[] = []
  const read = async () => {
    for await (const { items } of readAhead(failing())) observed.push(items)
  }
  await expect(read()).rejects.toThrow('gone')
  expect(observed).toEqual([[1]])
})

/** A cluster that serves just these. */
function serving(objects: readonly object[]): Reader {
  const all = objects as KubeObject[]
  return {
    async *pages(kind: Kind, where: { name?: string } = {}) {
      const items = all.filter((o) => o.kind === kind.kind && o.apiVersion === kind.apiVersion)
      if (items.length === 0) throw new ApiError(404, 'Unserved', `no ${kind.plural}`)
      yield { items: items.filter((o) => !where.name || o.metadata.name === where.name), resourceVersion: '' }
    },
  } as unknown as Reader
}

const of = (apiVersion: string, kind: string, name: string, more: object) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'shop' },
  ...more,
})

test('night C5: what copies disks is open until it says that it is over; what is not served is none', async () => {
  const open = await openDataJobs(serving(fixture.jobs))
  expect(open.map(({ name, phase }) => `${name} ${phase}`)).toEqual([
    'shop/a InProgress',
    'shop/c not begun',
    'shop/i Ready',
    'shop/g Progressing',
    'shop/e ImportInProgress',
  ])
})

test('night C4: who evicts, remediates or reboots, unless it is paused', async () => {
  const others = await activeOthers(serving(fixture.others))
  expect(others.map(({ resource, name, does }) => `${resource} ${name} ${does}`)).toEqual(fixture.active)
})

const slice = (service: string, ...endpoints: object[]) => ({
  ...of('discovery.k8s.io/v1', 'EndpointSlice', service, { endpoints }),
  metadata: { name: service, labels: { 'kubernetes.io/service-name': service } },
})

const pod = (uid: string, ready?: boolean) => ({
  conditions: ready === undefined ? {} : { ready },
  targetRef: { uid },
})

test('ready endpoints by Service: once in two slices, not those that are not ready', () => {
  expect(
    readyEndpoints([
      slice('virt-api', pod('1', true), pod('2', false)),
      slice('virt-api', pod('1', true), pod('3')),
      slice('idle'),
    ]),
  ).toEqual([
    { service: 'virt-api', ready: 2 },
    { service: 'idle', ready: 0 },
  ])
})
