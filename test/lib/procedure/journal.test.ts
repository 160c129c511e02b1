import { describe, expect, test } from 'vitest'
import { ConfigMaps, Namespaces } from '../../../src/lib/cluster/kinds/core.ts'
import type { Cluster } from '../../../src/lib/cluster/cluster.ts'
import type { Entry, Journal, Loan } from '../../../src/lib/procedure/journal.ts'
import { bounded } from '../../../src/lib/procedure/journal-content.ts'
import { configMapJournal } from '../../../src/lib/procedure/journal-config-map.ts'
import { memoryJournal } from '../../../src/lib/procedure/memory-journal.ts'
import { storeCluster } from '../../../src/lib/simulator/api/client.ts'
import { Store } from '../../../src/lib/simulator/api/store.ts'
import { SimClock } from '../../../src/lib/simulator/clock.ts'
import { ApiError } from '../../../src/lib/system/errors.ts'
import { FakeCluster } from './fake-cluster.ts'

const namespace = 'kubevirt'
const ref = { name: 'kvup-journal', namespace }
const on = (cluster: Cluster): Journal =>
  configMapJournal(cluster, { namespace, who: 'jane@here', clock: new SimClock() })

async function stored(): Promise<Cluster> {
  const cluster = storeCluster(new Store(new SimClock()))
  await cluster.writer.create(Namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  })
  return cluster
}

const entry = (text: string, over: Partial<Entry> = {}): Entry => ({
  at: '2026-01-01T00:00:00Z',
  by: 'jane@here',
  procedure: 'upgrade',
  step: 's',
  what: 'applied',
  text,
  ...over,
})

const loan = (id: string, value: unknown = ['LiveMigrate']): Loan => ({
  id,
  procedure: 'upgrade',
  object: { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', namespace, name: 'kubevirt', uid: 'u' },
  path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
  was: { present: true, value },
  by: 'jane@here',
  at: '2026-01-01T00:00:00Z',
})

describe.each<[string, () => Promise<Journal>]>([
  ['memory', async () => memoryJournal()],
  ['ConfigMap on a fake', async () => on(new FakeCluster().cluster())],
  ['ConfigMap on the simulator', async () => on(await stored())],
])('journal in %s', (_, open) => {
  test('is empty at first, and keeps entries in their order', async () => {
    const journal = await open()
    expect([await journal.entries(), await journal.loans(), await journal.kept('x')]).toEqual([
      [],
      [],
      undefined,
    ])
    await journal.record(entry('one'))
    await journal.record(entry('two'))
    expect((await journal.entries()).map(({ text }) => text)).toEqual(['one', 'two'])
  })

  test('the first value of a loan wins, and giving back is written down', async () => {
    const journal = await open()
    await journal.borrow(loan('methods'))
    expect(await journal.borrow(loan('methods', []))).toEqual(loan('methods'))
    expect(await journal.loans()).toEqual([loan('methods')])
    await journal.release('methods')
    await journal.release('methods')
    expect(await journal.loans()).toEqual([])
    expect((await journal.entries()).map(({ what, step }) => `${what} ${step}`)).toEqual([
      'borrowed methods',
      'gave-back methods',
    ])
    expect(await journal.borrow(loan('methods', []))).toEqual(loan('methods', []))
  })

  test('absence is a value that can be kept', async () => {
    const journal = await open()
    await journal.borrow({ ...loan('tag'), was: { present: false } })
    expect((await journal.loans())[0]?.was).toEqual({ present: false })
  })

  test('the first baseline wins, until its procedure is finished', async () => {
    const journal = await open()
    await journal.keep('upgrade/before', 1)
    await journal.keep('upgrade/before', 2)
    await journal.keep('elsewhere', { a: [null] })
    expect(await journal.kept('upgrade/before')).toBe(1)
    await journal.record(entry('', { what: 'finished' }))
    expect(await journal.kept('upgrade/before')).toBeUndefined()
    expect(await journal.kept('elsewhere')).toEqual({ a: [null] })
  })

  test('drops the oldest entries, never an open loan', async () => {
    const journal = await open()
    await journal.borrow(loan('methods'))
    for (let i = 0; i < 120; i++) await journal.record(entry(`${i} ${'é'.repeat(1500)}`))
    const entries = await journal.entries()
    expect(entries.length).toBeLessThan(100)
    expect(Buffer.byteLength(JSON.stringify(entries))).toBeLessThan(260 * 1024)
    expect(entries.at(-1)?.text).toMatch(/^119 /)
    expect(await journal.loans()).toHaveLength(1)
  })

  test('a long text keeps its end', async () => {
    const journal = await open()
    await journal.record(entry(`start${'x'.repeat(9000)}cause`))
    const text = (await journal.entries())[0]?.text ?? ''
    expect(text).toMatch(/^start.* … .*cause$/)
    expect(text.length).toBeLessThan(2100)
  })

  test('refuses another loan when there is no room for it', async () => {
    const journal = await open()
    await journal.borrow(loan('big', 'x'.repeat(300 * 1024)))
    await expect(journal.borrow(loan('bigger', 'x'.repeat(300 * 1024)))).rejects.toMatchObject({
      reason: 'journal-full',
    })
    expect(await journal.loans()).toHaveLength(1)
  })
})

test('a memory journal lies over the real one and leaves it alone', async () => {
  const real = memoryJournal()
  await real.borrow(loan('methods'))
  await real.keep('k', 1)
  const over = memoryJournal(real)
  await over.keep('k', 2)
  await over.release('methods')
  expect([await over.loans(), await over.kept('k')]).toEqual([[], 1])
  expect(await real.loans()).toHaveLength(1)
})

test('contract: a loan outlives the journal that somebody deletes, and one that was closed does not come back', async () => {
  const cluster = await stored()
  const journal = on(cluster)
  await journal.borrow(loan('closed'))
  await journal.borrow(loan('open'))
  await journal.release('closed')
  await cluster.writer.delete(ConfigMaps, ref)
  await on(cluster).record(entry('somebody begins anew'))
  expect((await journal.loans()).map(({ id }) => id)).toEqual(['open'])
  await journal.record(entry('x'))
  expect((await on(cluster).loans()).map(({ id }) => id)).toEqual(['open'])
  await cluster.writer.delete(ConfigMaps, ref)
  await journal.release('open')
  expect(await journal.loans()).toEqual([])
  expect(await on(cluster).loans()).toEqual([])
})

test('two writers at once lose nothing', async () => {
  const cluster = await stored()
  await on(cluster).record(entry('first'))
  await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (who) => {
      for (let i = 0; i < 5; i++) await on(cluster).record(entry(`${who}${i}`))
    }),
  )
  const texts = (await on(cluster).entries()).map(({ text }) => text)
  expect(texts.toSorted()).toEqual([
    ...['a', 'b', 'c', 'd'].flatMap((who) => [0, 1, 2, 3, 4].map((i) => `${who}${i}`)),
    'first',
  ])
})

test.each([
  ['entries', 'garbage', 'line 1 of key "entries" is not JSON'],
  ['loans', '{"id":"x"}\n', 'line 1 of key "loans" is not what kvup writes there'],
  ['kept', '\n[]\n', 'line 2 of key "kept" is not what kvup writes there'],
])('a hand-edited %s is exit 3, named, and not overwritten', async (key, text, why) => {
  const fake = new FakeCluster()
  fake.put(ConfigMaps, { metadata: { ...ref }, data: { [key]: text } })
  const journal = on(fake.cluster())
  await expect(journal.record(entry('x'))).rejects.toMatchObject({
    exitCode: 3,
    reason: 'journal-unreadable',
    object: 'configmaps/kvup-journal in namespace kubevirt',
    message: expect.stringContaining(why),
  })
  expect(fake.writes()).toEqual([])
  expect(fake.peek(ConfigMaps, ref)?.data).toEqual({ [key]: text })
})

test('is labelled, readable line by line, and leaves other keys alone', async () => {
  const fake = new FakeCluster()
  fake.put(ConfigMaps, { metadata: { ...ref }, data: { mine: 'yes' } })
  await on(fake.cluster()).record(entry('x'))
  const found = fake.peek(ConfigMaps, ref)
  expect(found?.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'kvup' })
  expect(found?.data).toMatchObject({ mine: 'yes', entries: `${JSON.stringify(entry('x'))}\n` })
})

test('a conflict that never ends is thrown', async () => {
  const fake = new FakeCluster()
  fake.before = ({ verb }) => {
    if (verb !== 'find') throw new ApiError(409, 'Conflict', 'modified')
  }
  await expect(on(fake.cluster()).record(entry('x'))).rejects.toMatchObject({ status: 409 })
})

const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

test('keeps 300 entries and 200 baselines, the newest', () => {
  const { entries, kept } = bounded({
    entries: many(310, (i) => entry(`${i}`)),
    loans: [],
    kept: Object.fromEntries(many(210, (i) => [`key-${i}`, i])),
  })
  expect([entries.length, entries[0]?.text]).toEqual([300, '10'])
  expect([Object.keys(kept).length, kept['key-209'], kept['key-9']]).toEqual([200, 209, undefined])
})
