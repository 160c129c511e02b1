import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
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

test('pages are of one moment', () => {
  const store = freshStore()
  for (const name of ['a', 'b', 'c', 'd']) createMap(store, name)
  const names = (page: ReturnType<typeof store.list>) => page.items.map(({ metadata }) => metadata.name)
  const first = store.list(ConfigMaps, { limit: 2 })
  expect([names(first), first.remaining]).toEqual([['a', 'b'], 2])
  store.remove(ConfigMaps, { name: 'c', namespace })
  const second = store.list(ConfigMaps, { limit: 2, continue: first.continue })
  expect([names(second), second.resourceVersion]).toEqual([['c', 'd'], first.resourceVersion])
})
