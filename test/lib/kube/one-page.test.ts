import { expect, test } from 'vitest'
import type { Page, Reader, Where } from '../../../src/lib/kube/cluster.ts'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { type KubeObject, metadataOf } from '../../../src/lib/kube/object.ts'
import { oncePaged } from '../../../src/lib/kube/read-cache.ts'

const object = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: name.split('/')[1] ?? '', namespace: name.split('/')[0] ?? '', labels },
})

const asWords = (where: Where = {}) =>
  Object.entries(where)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(' ')

/** A server with these objects, so many on a page at most; it notes what it is asked. `fails`: how many first questions it does not answer. */
function server(objects: readonly KubeObject[], { most = 500, fails = 0 } = {}) {
  const asked: string[] = []
  const note = (what: string) => {
    asked.push(what.trim())
    if (asked.length <= fails) throw new Error('away')
  }
  const live = {
    async list(kind, where) {
      note(`list ${kind.metadataOnly ? 'metadata ' : ''}${asWords(where)}`)
      return objects as never[]
    },
    async *pages(kind, where) {
      note(`pages ${kind.metadataOnly ? 'metadata ' : ''}${asWords(where)}`)
      const size = Math.min(where?.pageSize ?? 500, most)
      for (let at = 0; at < objects.length || at === 0; at += size) {
        const items = objects.slice(at, at + size) as never[]
        yield { items, resourceVersion: '7', ...(at + size >= objects.length && { isLast: true as const }) }
      }
    },
  } satisfies Partial<Reader>
  const reader = oncePaged(live as Partial<Reader> as Reader)
  return { reader, asked }
}

const namesOf = (items: readonly KubeObject[]) =>
  items.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)

async function all(pages: AsyncIterable<Page<KubeObject>>): Promise<string[]> {
  const found: KubeObject[] = []
  for await (const { items } of pages) found.push(...items)
  return namesOf(found)
}

const few = [object('a/one', { app: 'x' }), object('a/two'), object('b/one', { app: 'x' })]

test('a kind that fits one page is asked for once: as a whole, by its metadata and page by page', async () => {
  const { reader, asked } = server(few)
  const every = ['a/one', 'a/two', 'b/one']
  expect(namesOf(await reader.list(ConfigMaps))).toEqual(every)
  expect(namesOf(await reader.list(metadataOf(ConfigMaps)))).toEqual(every)
  expect(await all(reader.pages(ConfigMaps))).toEqual(every)
  expect(await all(reader.pages(ConfigMaps, { pageSize: 1 }))).toEqual(every)
  expect(asked).toEqual(['pages pageSize=250'])
})

test('at the same time as well', async () => {
  const { reader, asked } = server(few)
  await Promise.all([reader.list(ConfigMaps), all(reader.pages(ConfigMaps)), reader.list(ConfigMaps)])
  expect(asked).toEqual(['pages pageSize=250'])
})

test('a part of it is taken from what is there: by namespace and labels', async () => {
  const { reader, asked } = server(few)
  await reader.list(ConfigMaps)
  expect(namesOf(await reader.list(ConfigMaps, { namespace: 'a' }))).toEqual(['a/one', 'a/two'])
  expect(namesOf(await reader.list(ConfigMaps, { labels: 'app=x' }))).toEqual(['a/one', 'b/one'])
  expect(namesOf(await reader.list(ConfigMaps, { labels: 'app in (x)', namespace: 'b' }))).toEqual(['b/one'])
  expect(namesOf(await reader.list(ConfigMaps, { labels: '!app' }))).toEqual(['a/two'])
  expect(await all(reader.pages(ConfigMaps, { namespace: 'b' }))).toEqual(['b/one'])
  expect(asked).toHaveLength(1)
})

test('a part alone does not read the whole, and what only the server can judge is asked of it', async () => {
  const { reader, asked } = server(few)
  await reader.list(ConfigMaps, { namespace: 'a' })
  await reader.list(ConfigMaps)
  await reader.list(ConfigMaps, { fields: 'metadata.name=one' })
  await all(reader.pages(ConfigMaps, { name: 'one' }))
  expect(asked).toEqual([
    'list namespace=a',
    'pages pageSize=250',
    'list fields=metadata.name=one',
    'pages name=one',
  ])
})

const many = Array.from({ length: 600 }, (_, at) => object(`n/${String(at).padStart(4, '0')}`))

test('what does not fit one page is whole all the same, each object once', async () => {
  const { reader, asked } = server(many)
  expect(await all(reader.pages(ConfigMaps))).toEqual(namesOf(many))
  expect(await all(reader.pages(ConfigMaps))).toEqual(namesOf(many))
  expect(namesOf(await reader.list(ConfigMaps))).toEqual(namesOf(many))
  // The first page is shared, what comes behind it is read by each.
  expect(asked).toEqual(['pages pageSize=250', 'pages', 'pages', 'list'])
  // A part is not taken from a page that is not all.
  await reader.list(ConfigMaps, { namespace: 'n' })
  expect(asked.at(-1)).toBe('list namespace=n')
})

test('a kind without objects is one question too', async () => {
  const { reader, asked } = server([])
  expect(await reader.list(ConfigMaps)).toEqual([])
  expect(await all(reader.pages(ConfigMaps))).toEqual([])
  expect(await reader.list(ConfigMaps, { namespace: 'a' })).toEqual([])
  expect(asked).toHaveLength(1)
})

test('a failure is not remembered, and is none of a part', async () => {
  const { reader, asked } = server(few, { fails: 1 })
  await expect(reader.list(ConfigMaps)).rejects.toThrow('away')
  expect(namesOf(await reader.list(ConfigMaps, { namespace: 'a' }))).toHaveLength(3)
  expect(namesOf(await reader.list(ConfigMaps))).toHaveLength(3)
  expect(asked).toEqual(['pages pageSize=250', 'list namespace=a', 'pages pageSize=250'])
})

test('who changes the list that was given changes nobody else’s', async () => {
  const { reader } = server(few)
  const own = await reader.list(ConfigMaps)
  own.pop()
  expect(await reader.list(ConfigMaps)).toHaveLength(3)
})
