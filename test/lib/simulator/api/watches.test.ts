import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { createMap, freshStore, namespace, refused } from './fixture.ts'

test('a watch resumes after the revision that it names', () => {
  const store = freshStore()
  const { metadata } = createMap(store, 'one')
  createMap(store, 'two')
  const observed: string[] = []
  const stop = store.watch(
    ConfigMaps,
    (e) => observed.push(`${e.type} ${e.object.metadata.name}`),
    Number(metadata.resourceVersion),
  )
  store.remove(ConfigMaps, { name: 'one', namespace })
  stop()
  createMap(store, 'three')
  expect(observed).toEqual(['ADDED two', 'DELETED one'])
})

test('a revision that is forgotten is 410', () => {
  const store = freshStore({ history: 2 })
  const first = Number(createMap(store, 'first').metadata.resourceVersion)
  for (const name of ['two', 'three', 'four']) createMap(store, name)
  expect(refused(() => store.watch(ConfigMaps, () => undefined, first))).toMatchObject({
    status: 410,
    statusReason: 'Expired',
    message: expect.stringMatching(/^too old resource version: \d+ \(\d+\)$/),
  })
})

test('an object that leaves the selection is deleted to the follower', async () => {
  const store = freshStore()
  createMap(store, 'one', { labels: { in: 'yes' } })
  const stop = new AbortController()
  const observed: string[] = []
  const { reader, writer } = storeCluster(store)
  const following = (async () => {
    for await (const change of reader.watch(ConfigMaps, { labels: 'in=yes' }, stop.signal))
      observed.push(change.type)
  })()
  const label = (value: string) =>
    writer.mergePatch(ConfigMaps, { name: 'one', namespace }, { metadata: { labels: { in: value } } })
  await label('no')
  await label('yes')
  await writer.delete(ConfigMaps, { name: 'one', namespace })
  await Promise.resolve()
  stop.abort()
  await following
  expect(observed.slice(0, 4)).toEqual(['added', 'synced', 'deleted', 'added'])
})

test('pages are of one moment; an expired token is 410 and carries the one that goes on', () => {
  const store = freshStore()
  for (const name of ['a', 'b', 'c', 'd']) createMap(store, name)
  const names = (page: ReturnType<typeof store.list>) => page.items.map(({ metadata }) => metadata.name)
  const first = store.list(ConfigMaps, { limit: 2 })
  expect([names(first), first.remaining]).toEqual([['a', 'b'], 2])
  store.remove(ConfigMaps, { name: 'c', namespace })
  const second = store.list(ConfigMaps, { limit: 2, continue: first.continue })
  expect([names(second), second.resourceVersion]).toEqual([['c', 'd'], first.resourceVersion])
  store.compact()
  const expired = refused(() => store.list(ConfigMaps, { limit: 2, continue: first.continue }))
  expect(expired).toMatchObject({ status: 410, statusReason: 'Expired' })
  const { body } = expired as unknown as { body: { metadata: { continue: string } } }
  expect(names(store.list(ConfigMaps, { continue: body.metadata.continue }))).toEqual(['d'])
})
