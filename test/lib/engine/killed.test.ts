import { expect, test } from 'vitest'
import { ConfigMaps, Leases } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import { noNote, noteOf } from '../../../src/lib/engine/overrides.ts'
import type { Procedure, Step } from '../../../src/lib/engine/step.ts'
import { awaitOn, Engine, flip, minute, second, setting } from './engine.ts'

const ref = { name: 'kubevirt', namespace: 'kubevirt' }
const path = '/spec/workloadUpdateStrategy/workloadUpdateMethods'
const saved = 'workload-updates'

/** A setting whose former value lies on its object. */
const kubevirt = (engine: Engine) =>
  engine.fake.put(KubeVirts, {
    metadata: { ...ref, uid: 'u' },
    spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } },
  })

const methodsNow = async (reader: Reader) => {
  const found = await reader.get(KubeVirts, ref)
  if (found.is !== 'object') throw new Error('no KubeVirt')
  return found.object.spec?.workloadUpdateStrategy?.workloadUpdateMethods ?? []
}

const overriding = (
  workloadUpdateMethods: readonly string[],
  annotations: Record<string, string | null>,
) => ({
  metadata: { annotations },
  spec: { workloadUpdateStrategy: { workloadUpdateMethods: [...workloadUpdateMethods] } },
})

/** Borrows the methods, moves `tag`, waits for the operator to set `rolled`, and gives back. */
function borrowing(): Procedure {
  const hold: Step = {
    ...flip('hold'),
    async check({ journal, reader }) {
      const found = await reader.get(ConfigMaps, setting)
      if (found.is !== 'object') return { is: 'blocked', by: 'no setting' }
      const isOver = found.object.data?.['rolled'] === 'on' && (await journal.overrides()).length === 0
      if (isOver || (await methodsNow(reader)).length === 0) return { is: 'done' }
      return { is: 'todo', change: 'empty methods' }
    },
    async apply({ reader, writer, journal }) {
      const override = await journal.override({
        id: saved,
        procedure: 'upgrade',
        object: { apiVersion: KubeVirts.apiVersion, kind: 'KubeVirt', ...ref, uid: 'u' },
        path,
        was: { present: true, value: await methodsNow(reader) },
        by: 'jane',
        at: '2026-01-01T00:00:00Z',
      })
      await writer.mergePatch(KubeVirts, ref, overriding([], noteOf(override)))
    },
  }
  const restore: Step = {
    ...flip('restore'),
    check: async ({ journal }) =>
      (await journal.overrides()).length === 0 ? { is: 'done' } : { is: 'todo', change: 'set methods back' },
    async apply({ writer, journal }) {
      const [override] = await journal.overrides()
      const methods = override?.was.present ? (override.was.value as string[]) : []
      await writer.mergePatch(KubeVirts, ref, overriding(methods, noNote(saved)))
      await journal.release(saved)
    },
  }
  return {
    name: 'upgrade',
    overrides: [saved],
    async reached({ reader }) {
      const found = await reader.get(ConfigMaps, setting)
      return found.is === 'object' && found.object.data?.['rolled'] === 'on'
    },
    steps: async () => [hold, flip('tag'), awaitOn('rolled'), restore],
  }
}

/** Rolls 5 s after the tag was set. */
async function operate(engine: Engine): Promise<void> {
  while (engine.elapsed < 10 * minute && engine.value('rolled') !== 'on') {
    await engine.clock.sleep(second)
    if (engine.value('tag') === 'on') {
      await engine.clock.sleep(5 * second)
      engine.set({ rolled: 'on' })
    }
  }
}

/** The process dies when the server has answered its n-th call: nothing of it is heard again. */
function killAt(engine: Engine, last: number): void {
  const from = engine.fake.calls.length
  engine.fake.before = (_, number) => {
    if (number - from > last) throw new Error('killed')
  }
  engine.fake.after = (_, number) => {
    if (number - from === last) throw new Error('killed')
  }
}

function revive(engine: Engine): void {
  engine.fake.before = () => undefined
  engine.fake.after = () => undefined
}

const last = { tag: 'on', rolled: 'on' }

function begun(): Engine {
  const engine = new Engine()
  kubevirt(engine)
  return engine
}

/** As it was before: the methods are back, and no note is left. */
function expectAsItWas(engine: Engine): void {
  const { metadata, spec } = engine.fake.peek(KubeVirts, ref) ?? {}
  expect(spec?.workloadUpdateStrategy?.workloadUpdateMethods).toEqual(['LiveMigrate'])
  expect(JSON.stringify(metadata)).not.toContain('kvup.io/saved-')
}

async function callsOfAWholeRun(): Promise<number> {
  const engine = begun()
  void operate(engine)
  expect(await engine.run(borrowing())).toMatchObject({
    is: 'finished',
    changed: ['hold', 'tag', 'restore'],
  })
  return engine.fake.calls.length
}

test('killed after any of its calls and started again: same end, loan given back, history whole', async () => {
  const calls = await callsOfAWholeRun()
  expect(calls).toBeGreaterThan(40)
  for (let n = 1; n < calls; n++) {
    const engine = begun()
    void operate(engine)
    killAt(engine, n)
    await engine.run(borrowing()).catch(() => undefined)
    revive(engine)
    const before = engine.elapsed
    await engine.run(borrowing(), {}, { pid: 2, alive: [2] })
    expect(engine.elapsed - before, `killed after ${n}`).toBeLessThan(20 * second)
    expect(engine.fake.peek(ConfigMaps, setting)?.data, `killed after ${n}`).toEqual(last)
    expectAsItWas(engine)
    expect(await engine.journal().overrides()).toEqual([])
    const history = await engine.history()
    // Killed right behind the write that gives back and takes the note off: the history has the intent of it.
    const isCutOff = history.lastIndexOf('intends restore') > history.lastIndexOf('applied restore')
    expect(history, `killed after ${n}`).toContain(isCutOff ? 'intends restore' : `restored ${saved}`)
    // The last one may lack its end: the goal is reached then, and nothing to do means no write.
    for (const step of ['hold', 'tag']) {
      const known = history.filter((line) => line === `intends ${step}` || line === `applied ${step}`)
      expect(known.at(-1) ?? `applied ${step}`, `killed after ${n}`).toBe(`applied ${step}`)
    }
    const writes = engine.fake.writes().length
    expect(await engine.run(borrowing())).toEqual({ is: 'nothing-to-do' })
    expect(engine.fake.writes()).toHaveLength(writes)
  }
})

test('two runs at once: one works, the other is told who, and nothing is done twice', async () => {
  const engine = begun()
  void operate(engine)
  const ends = await Promise.allSettled([
    engine.run(borrowing(), {}, { host: 'here' }),
    engine.run(borrowing(), {}, { host: 'there' }),
  ])
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { exitCode: 6 } })
  const history = await engine.history()
  expect(history.filter((line) => line === 'applied tag')).toHaveLength(1)
  expect(engine.fake.peek(ConfigMaps, setting)?.data).toEqual(last)
  expectAsItWas(engine)
})

test('a run whose lock is taken in the middle ends with exit 6 and writes nothing more, journal included', async () => {
  const engine = begun()
  const run = engine.run(borrowing(), {}, { host: 'there' })
  const ended = run.catch((error: unknown) => error)
  await engine.clock.sleep(20 * second)
  const [holder] = (
    engine.fake.peek(Leases, { name: 'kvup', namespace: 'kubevirt' })?.spec?.holderIdentity ?? ''
  ).split(' ')
  const before = (await engine.journal().entries()).length
  await engine.lock({ takeOver: holder ?? '' }).hold(() => engine.clock.sleep(minute))
  expect(await ended).toMatchObject({ exitCode: 6, reason: 'lock-lost' })
  expect(await engine.journal().entries()).toHaveLength(before)
})
