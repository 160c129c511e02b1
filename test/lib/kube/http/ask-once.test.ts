import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { configMapBody, opened, refuse, reply, serve } from './tiny-server.ts'

const asks = {
  get: (cluster: Asking) => cluster.get(ConfigMaps, { name: 'x', namespace: 'ns' }),
  list: async (cluster: Asking) => {
    for await (const page of cluster.pages(ConfigMaps, { pageSize: 1 })) return page
    return undefined
  },
  create: (cluster: Asking) =>
    cluster.dryRun.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', namespace: 'ns' },
    }),
  path: (cluster: Asking) => cluster.path('/apis/subresources.kubevirt.io/v1'),
}
type Asking = ReturnType<NonNullable<Awaited<ReturnType<typeof opened>>['cluster']['askOnce']>>

const once = async (url: string, ms = 2000): Promise<Asking> => {
  const { cluster } = await opened(url)
  const ask = cluster.askOnce?.(ms)
  if (ask === undefined) throw new Error('it asks nothing once')
  return ask
}

test.each(Object.values(asks))('what is refused with 503, 500 or 429 is sent once: %s', async (ask) => {
  for (const status of [503, 500, 429]) {
    const { url, asked } = await serve((_, response) =>
      refuse(response, status, 'Busy', { 'retry-after': '1' }),
    )
    await expect(ask(await once(url))).rejects.toMatchObject({ status })
    expect(asked).toHaveLength(1)
  }
})

test.each(Object.values(asks))('a server that says nothing is given up in time: %s', async (ask) => {
  const { url } = await serve(() => undefined)
  const began = performance.now()
  await expect(ask(await once(url, 100))).rejects.toMatchObject({ status: 0, exitCode: 8 })
  expect(performance.now() - began).toBeLessThan(2000)
})

test('a connection that is cut is an answer that did not come, without a second request', async () => {
  const { url, asked } = await serve((_, response) => response.destroy())
  await expect(asks.path(await once(url))).rejects.toMatchObject({ status: 0 })
  expect(asked).toHaveLength(1)
})

test('a page of one object is one request, and a create is a dry run', async () => {
  const items = [configMapBody('x')]
  const { url, asked } = await serve((_, response) =>
    reply(response, 200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { continue: 'more' }, items }),
  )
  await asks.list(await once(url))
  await asks.create(await once(url)).catch(() => undefined)
  expect(asked.map(({ method, query }) => [method, query.get('limit'), query.get('dryRun')])).toEqual([
    ['GET', '1', null],
    ['POST', null, 'All'],
  ])
})
