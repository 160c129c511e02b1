import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { configMapJournal } from '../../../src/lib/engine/journal-config-map.ts'
import { guardedWriter } from '../../../src/lib/engine/run-session.ts'
import { type Entry, type Override, memoryJournal } from '../../../src/lib/engine/journal.ts'
import type { HeldLease } from '../../../src/lib/engine/lease.ts'
import { locked } from '../../../src/lib/kube/errors.ts'
import { Engine, namespace, setting } from './engine.ts'

const lost: HeldLease = {
  signal: new AbortController().signal,
  confirm: () => Promise.reject(locked('lock-lost', 'somebody else holds it')),
}

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: setting }

test('without the lock no kind of write reaches the cluster', async () => {
  const { fake } = new Engine()
  const writer = guardedWriter(fake.cluster().writer, lost)
  const writes = [
    () => writer.create(ConfigMaps, object),
    () => writer.mergePatch(ConfigMaps, setting, {}),
    () => writer.jsonPatch(ConfigMaps, setting, []),
    () => writer.apply(ConfigMaps, object),
    () => writer.delete(ConfigMaps, setting),
    () => writer.subresource(ConfigMaps, setting, { name: 'restart', method: 'PUT', body: {} }),
  ]
  for (const write of writes) await expect(write()).rejects.toMatchObject({ exitCode: 6 })
  expect(fake.calls).toEqual([])
})

test('nor is anything written down', async () => {
  const inner = memoryJournal()
  const journal = inner.under(lost)
  const writes = [
    () => journal.record({} as Entry),
    () => journal.override({ was: { present: false } } as Override),
    () => journal.release('x'),
    () => journal.keep('x', 1),
  ]
  for (const write of writes) await expect(write()).rejects.toMatchObject({ exitCode: 6 })
  expect([await inner.entries(), await inner.overrides(), await inner.kept('x')]).toEqual([[], [], undefined])
  expect([await journal.entries(), await journal.overrides(), await journal.kept('x')]).toEqual([
    [],
    [],
    undefined,
  ])
})

test('a try after a conflict asks for the lock again: who took it over wrote meanwhile', async () => {
  const { fake, clock } = new Engine()
  const place = { namespace, who: 'jane@here', clock }
  let isMine = true
  const held: HeldLease = {
    signal: new AbortController().signal,
    confirm: async () => {
      if (!isMine) throw locked('lock-lost', 'somebody else holds it')
    },
  }
  const journal = configMapJournal(fake.cluster(), place).under(held)
  const entry = {
    at: '',
    by: 'jane@here',
    procedure: 'upgrade',
    step: 's',
    what: 'intends',
    text: 'mine',
  } as const
  await journal.record(entry)
  const theirs = configMapJournal(fake.cluster(), { ...place, who: 'joe@there' })
  fake.before = async ({ verb }) => {
    if (verb === 'find' || !isMine) return
    isMine = false
    await theirs.record({ ...entry, text: 'theirs' })
  }
  await expect(journal.record({ ...entry, text: 'late' })).rejects.toMatchObject({ exitCode: 6 })
  expect((await theirs.entries()).map(({ text }) => text)).toEqual(['mine', 'theirs'])
})
