import { beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '../../../src/lib/kube/cluster.ts'
import { metadataOf } from '../../../src/lib/kube/object.ts'
import { ConfigMaps, type Lease, Leases, Namespaces } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { createMap, fresh, lease, refusal } from './objects.ts'

/** More than one page of 500. */
const many = 503

export function listPromises(backend: Backend): void {
  const reader = () => backend().cluster.reader

  describe('list with label selectors', () => {
    const set = fresh('set')
    const cases: [string, string[]][] = [
      ['tier=gold', ['a', 'b']],
      ['tier==gold', ['a', 'b']],
      ['tier!=gold', ['c', 'd']],
      ['tier in (gold, silver)', ['a', 'b', 'c']],
      ['tier notin (gold)', ['c', 'd']],
      ['tier', ['a', 'b', 'c']],
      ['!tier', ['d']],
      ['tier=gold,zone', ['b']],
      ['kvup.io/zone=', []],
      ['tier=nothing', []],
    ]

    beforeAll(async () => {
      await createMap(backend, {}, { name: `${set}-a`, labels: { set, tier: 'gold' } })
      await createMap(backend, {}, { name: `${set}-b`, labels: { set, tier: 'gold', zone: '1' } })
      await createMap(backend, {}, { name: `${set}-c`, labels: { set, tier: 'silver' } })
      await createMap(backend, {}, { name: `${set}-d`, labels: { set } })
    })

    test.each(cases)('%s', async (labels, expected) => {
      const { namespace } = backend()
      const found = await reader().list(ConfigMaps, { namespace, labels: `set=${set},${labels}` })
      expect(found.map(({ metadata }) => metadata.name)).toEqual(expected.map((name) => `${set}-${name}`))
    })

    test('by name, by field, and both with labels', async () => {
      const { namespace } = backend()
      const names = async (where: object) =>
        (await reader().list(ConfigMaps, { namespace, ...where })).map(({ metadata }) => metadata.name)
      expect(await names({ name: `${set}-b` })).toEqual([`${set}-b`])
      expect(await names({ fields: `metadata.name=${set}-c` })).toEqual([`${set}-c`])
      expect(await names({ name: `${set}-c`, labels: 'tier=gold' })).toEqual([])
    })

    test('every item says what it is', async () => {
      const found = await reader().list(ConfigMaps, { namespace: backend().namespace, labels: `set=${set}` })
      expect(new Set(found.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))).toEqual(
        new Set(['v1 ConfigMap']),
      )
    })

    test('of metadata alone it has no data, and says what it is of', async () => {
      const { namespace } = backend()
      const found = await reader().list(metadataOf(ConfigMaps), { namespace, labels: `set=${set},zone` })
      expect(found).toMatchObject([
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${set}-b`, labels: { tier: 'gold' } } },
      ])
      expect(Object.keys(found[0] ?? {}).toSorted()).toEqual(['apiVersion', 'kind', 'metadata'])
    })

    test('without a namespace it covers all of them', async () => {
      const found = await reader().list(ConfigMaps, { labels: `set=${set}` })
      expect(found.map(({ metadata }) => metadata.namespace)).toEqual(Array(4).fill(backend().namespace))
    })
  })

  test('list: a kind that is not served is 404, an empty one is empty', async () => {
    const error = await refusal(reader().list({ ...KubeVirts, apiVersion: 'nothing.kvup.io/v1' }))
    expect(error.status).toBe(404)
    expect(await reader().list(Leases, { namespace: fresh('no-such-namespace') })).toEqual([])
  })

  test('pages: 500 at a time or as many as are asked for, in the order of names, with how many remain', async () => {
    const { writer } = backend().cluster
    const namespace = fresh('pages')
    const all = Array.from({ length: many }, (_, i) => `lease-${String(i).padStart(4, '0')}`)
    await writer.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    const make = (name: string) => writer.create(Leases, lease(backend, 'x', { name, namespace }))
    for (let i = 0; i < many; i += 50) await Promise.all(all.slice(i, i + 50).map(make))

    const pages: Page<Lease>[] = []
    for await (const page of reader().pages(Leases, { namespace })) pages.push(page)
    expect(pages.map(({ items }) => items.length)).toEqual([500, many - 500])
    expect(pages[0]?.remaining).toBe(many - 500)
    expect(pages[1]?.remaining ?? 0).toBe(0)
    expect(pages.flatMap(({ items }) => items.map(({ metadata }) => metadata.name))).toEqual(all)
    expect(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size).toBe(1)
    expect(await reader().list(Leases, { namespace })).toHaveLength(many)
    const sizes: number[] = []
    for await (const { items } of reader().pages(Leases, { namespace, pageSize: many }))
      sizes.push(items.length)
    expect(sizes).toEqual([many])
    await writer.delete(Namespaces, { name: namespace })
  })
}
