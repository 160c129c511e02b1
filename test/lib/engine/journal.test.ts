import { describe, expect, test } from 'vitest'
import { ConfigMaps, Namespaces } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import {
  bounded,
  type Entry,
  type Journal,
  type Override,
  memoryJournal,
} from '../../../src/lib/engine/journal.ts'
import { configMapJournal } from '../../../src/lib/engine/journal-config-map.ts'
import { noNote, noteOf } from '../../../src/lib/engine/overrides.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { Store } from '../../../src/simulator/api/store.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
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

const override = (id: string, value: unknown = ['LiveMigrate']): Override => ({
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
    expect([await journal.entries(), await journal.overrides(), await journal.kept('x')]).toEqual([
      [],
      [],
      undefined,
    ])
    await journal.record(entry('one'))
    await journal.record(entry('two'))
    expect((await journal.entries()).map(({ text }) => text)).toEqual(['one', 'two'])
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

  test('drops the oldest entries', async () => {
    const journal = await open()
    for (let i = 0; i < 120; i++) await journal.record(entry(`${i} ${'é'.repeat(1500)}`))
    const entries = await journal.entries()
    expect(entries.length).toBeLessThan(100)
    expect(Buffer.byteLength(JSON.stringify(entries))).toBeLessThan(260 * 1024)
    expect(entries.at(-1)?.text).toMatch(/^119 /)
  })

  test('a long text keeps its end', async () => {
    const journal = await open()
    await journal.record(entry(`start${'x'.repeat(9000)}cause`))
    const text = (await journal.entries())[0]?.text ?? ''
    expect(text).toMatch(/^start.* … .*cause$/)
    expect(text.length).toBeLessThan(2100)
  })
})

describe('loans of a journal in memory', () => {
  test('the first value of a loan wins, and giving back is written down', async () => {
    const journal = memoryJournal()
    await journal.override(override('methods'))
    expect(await journal.override(override('methods', []))).toEqual(override('methods'))
    expect(await journal.overrides()).toEqual([override('methods')])
    await journal.release('methods')
    await journal.release('methods')
    expect(await journal.overrides()).toEqual([])
    expect((await journal.entries()).map(({ what, step }) => `${what} ${step}`)).toEqual([
      'saved methods',
      'restored methods',
    ])
    expect(await journal.override(override('methods', []))).toEqual(override('methods', []))
  })

  test('absence is a value that can be kept', async () => {
    const journal = memoryJournal()
    await journal.override({ ...override('tag'), was: { present: false } })
    expect((await journal.overrides())[0]?.was).toEqual({ present: false })
  })

  test('refuses another loan when there is no room for it', async () => {
    const journal = memoryJournal()
    await journal.override(override('big', 'x'.repeat(300 * 1024)))
    await expect(journal.override(override('bigger', 'x'.repeat(300 * 1024)))).rejects.toMatchObject({
      reason: 'journal-full',
    })
    expect(await journal.overrides()).toHaveLength(1)
  })
})

test('a memory journal lies over the real one and leaves it alone', async () => {
  const real = memoryJournal()
  await real.override(override('methods'))
  await real.keep('k', 1)
  const over = memoryJournal(real)
  await over.keep('k', 2)
  await over.release('methods')
  expect([await over.overrides(), await over.kept('k')]).toEqual([[], 1])
  expect(await real.overrides()).toHaveLength(1)
})

/** A KubeVirt whose methods are emptied, with the note of the loan on it. */
async function overridden(value: readonly string[] = ['LiveMigrate']) {
  const cluster = await stored()
  const { apiVersion, kind } = KubeVirts
  const metadata = { name: 'kubevirt', namespace }
  const made = await cluster.writer.create(KubeVirts, { apiVersion, kind, metadata })
  const journal = on(cluster)
  const here: Override = {
    ...override('workload-updates', value),
    object: { apiVersion, kind, namespace, name: 'kubevirt', uid: made.metadata.uid ?? '' },
  }
  const annotations = noteOf(await journal.override(here))
  await cluster.writer.mergePatch(KubeVirts, metadata, { metadata: { annotations } })
  return { cluster, journal, here }
}

test('contract: a loan outlives the journal that somebody deletes, for it lies on its object', async () => {
  const { cluster, here } = await overridden()
  await cluster.writer.delete(ConfigMaps, ref)
  expect(await on(cluster).overrides()).toEqual([here])
  await on(cluster).record(entry('somebody begins anew'))
  expect(await on(cluster).overrides()).toEqual([here])
})

test('contract: the first value wins against what the journal claims', async () => {
  const { cluster, journal, here } = await overridden()
  const forged = { ...here, was: { present: true, value: ['Evict'] } }
  await cluster.writer.mergePatch(ConfigMaps, ref, { data: { overrides: `${JSON.stringify(forged)}\n` } })
  expect(await on(cluster).overrides()).toEqual([here])
  expect(await on(cluster).override({ ...here, was: { present: true, value: [] } })).toEqual(here)
  expect(await journal.missing()).toEqual([])
})

test('contract: a loan that is closed is written down, in a journal that was deleted too', async () => {
  const { cluster, journal } = await overridden()
  await cluster.writer.delete(ConfigMaps, ref)
  expect(await journal.overrides()).toHaveLength(1)
  await cluster.writer.mergePatch(
    KubeVirts,
    { name: 'kubevirt', namespace },
    {
      metadata: { annotations: noNote('workload-updates') },
      spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } },
    },
  )
  await journal.release('workload-updates')
  expect(await on(cluster).overrides()).toEqual([])
  expect(await on(cluster).entries()).toMatchObject([{ what: 'restored', step: 'workload-updates' }])
})

test('a loan whose note outlives its end is open, and its end has one entry', async () => {
  const { cluster, journal, here } = await overridden()
  await journal.release('workload-updates', 'it stays')
  expect(await on(cluster).overrides()).toEqual([here])
  await on(cluster).release('workload-updates', 'it stays')
  expect((await on(cluster).entries()).map(({ what }) => what)).toEqual(['saved', 'closed'])
  expect(await on(cluster).overrides()).toEqual([here])
  const last = on(cluster)
  expect(await last.overrides()).toEqual([here])
  await last.release('workload-updates')
  expect((await on(cluster).entries()).map(({ what }) => what)).toEqual(['saved', 'closed', 'restored'])
})

test('a claim of what is as it was is closed with the run that finds it so', async () => {
  const cluster = await stored()
  await on(cluster).override(override('workload-updates'))
  await on(cluster).record(entry('', { what: 'finished' }))
  expect((await on(cluster).entries()).map(({ what }) => what)).toEqual(['saved', 'closed', 'finished'])
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
  ['overrides', '{"id":"x"}\n', 'line 1 of key "overrides" is no entry of kvup'],
  ['kept', '\n[]\n', 'line 2 of key "kept" is no entry of kvup'],
])(
  'L3: a hand-edited %s is said once, stops nobody, and is moved aside with the next write',
  async (key, text, why) => {
    const fake = new FakeCluster()
    const whole = `${JSON.stringify(entry('whole'))}\n`
    fake.put(ConfigMaps, {
      metadata: { ...ref },
      data: { entries: whole, [key]: key === 'entries' ? `${text}\n${whole}` : text },
    })
    const said: string[] = []
    const journal = configMapJournal(fake.cluster(), {
      namespace,
      who: 'jane@here',
      clock: new SimClock(),
      warn: (line) => said.push(line),
    })
    expect((await journal.entries()).map((one) => one.text)).toEqual(['whole'])
    expect(fake.writes()).toEqual([])
    await journal.record(entry('x'))
    expect(said).toEqual([expect.stringContaining(why)])
    expect(fake.peek(ConfigMaps, ref)?.data).toMatchObject({
      entries: ['whole', 'x'].map((one) => `${JSON.stringify(entry(one, { run: 1 }))}\n`).join(''),
      unreadable: `${text.trim()}\n`,
    })
  },
)

test('is labelled, readable line by line, and leaves other keys alone', async () => {
  const fake = new FakeCluster()
  fake.put(ConfigMaps, { metadata: { ...ref }, data: { mine: 'yes' } })
  await on(fake.cluster()).record(entry('x'))
  const found = fake.peek(ConfigMaps, ref)
  expect(found?.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'kvup' })
  expect(found?.data).toMatchObject({ mine: 'yes', entries: `${JSON.stringify(entry('x', { run: 1 }))}\n` })
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
    overrides: [],
    kept: Object.fromEntries(many(210, (i) => [`key-${i}`, i])),
  })
  expect([entries.length, entries[0]?.text]).toEqual([300, '10'])
  expect([Object.keys(kept).length, kept['key-209'], kept['key-9']]).toEqual([200, 209, undefined])
})

test('what an older kvup called loans are claims like any other, and moved with the next write', async () => {
  const fake = new FakeCluster()
  const former = {
    id: 'workload-updates',
    procedure: 'upgrade to v1.8.4',
    object: { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', namespace, name: 'kubevirt', uid: 'u1' },
    path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
    was: { present: true, value: ['LiveMigrate'] },
    by: 'jane@here',
    at: '2026-01-10T12:00:00Z',
  }
  fake.put(ConfigMaps, {
    metadata: { ...ref },
    data: {
      entries: `${JSON.stringify({ ...entry('x'), what: 'borrowed' })}\n`,
      loans: `${JSON.stringify(former)}\n`,
    },
  })
  const journal = on(fake.cluster())
  expect((await journal.entries()).map(({ what }) => what)).toEqual(['borrowed'])
  await journal.record(entry('later'))
  const { data = {} } = fake.peek(ConfigMaps, ref) ?? {}
  expect(Object.keys(data).toSorted()).toEqual(['entries', 'kept', 'overrides'])
  expect(data['overrides']).toBe(`${JSON.stringify(former)}\n`)
})
