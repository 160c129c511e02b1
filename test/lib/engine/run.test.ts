import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { ApiError, interrupted } from '../../../src/lib/kube/errors.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Override } from '../../../src/lib/engine/journal.ts'
import { noteOf } from '../../../src/lib/engine/overrides.ts'
import type { StepState } from '../../../src/lib/engine/step.ts'
import { awaitOn, Engine, flip, minute, procedureOf, second } from './engine.ts'

test('a reached goal without an open loan: nothing to do, no lock and no write', async () => {
  const engine = new Engine({ a: 'on' })
  expect(await engine.run(procedureOf(flip('a')))).toEqual({ is: 'nothing-to-do' })
  expect(engine.fake.writes()).toEqual([])
  expect(engine.events).toEqual([])
})

test('a reached goal with an open loan of its own is still run', async () => {
  const engine = new Engine({ a: 'on' })
  const kubevirt = { name: 'kubevirt', namespace: 'kubevirt', uid: 'u' }
  const override: Override = {
    id: 'workload-updates',
    procedure: 'flip all',
    object: { apiVersion: KubeVirts.apiVersion, kind: 'KubeVirt', ...kubevirt },
    path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
    was: { present: true, value: ['LiveMigrate'] },
    by: 'jane',
    at: '2026-01-01T00:00:00Z',
  }
  engine.fake.put(KubeVirts, { metadata: { ...kubevirt, annotations: noteOf(override) } })
  const procedure = procedureOf(flip('a'))
  expect(await engine.run(procedure)).toMatchObject({ is: 'finished' })
  expect(await engine.run({ ...procedure, name: 'another' })).toEqual({ is: 'nothing-to-do' })
  expect(await engine.run({ ...procedure, name: 'another', overrides: ['workload-updates'] })).toMatchObject({
    is: 'finished',
  })
})

test('applies once, journals before and after, and ends the streams and the lock', async () => {
  const engine = new Engine()
  const outcome = await engine.run(procedureOf(flip('a'), flip('b')))
  expect(outcome).toMatchObject({ is: 'finished', changed: ['a', 'b'] })
  expect(await engine.history()).toEqual([
    'started',
    'intends a',
    'applied a',
    'intends b',
    'applied b',
    'finished',
  ])
  expect(engine.fake.watchers).toBe(0)
  expect(engine.kinds()).toContain('run-finished')
  expect(await engine.run(procedureOf(flip('a'), flip('b')))).toEqual({ is: 'nothing-to-do' })
})

test('a step that is done costs one read', async () => {
  const engine = new Engine({ a: 'on', b: 'on' })
  let checks = 0
  const a = flip('a')
  const counted = { ...a, check: (cx: Parameters<typeof a.check>[0]) => (checks++, a.check(cx)) }
  await engine.run({ ...procedureOf(counted), reached: async () => false })
  expect(checks).toBe(1)
})

test('our change that is undone ends the run with exit 3, naming who', async () => {
  const engine = new Engine()
  const undone = flip('a', {
    async apply() {
      // A controller put it back before anybody looked.
    },
    blame: async () => 'argocd-controller at 2026-01-01T00:00:00Z',
  })
  await expect(engine.run(procedureOf(undone))).rejects.toMatchObject({
    exitCode: 3,
    reason: 'undone',
    message: expect.stringContaining(
      "something reverted kvup's change (set a to on). It was argocd-controller",
    ),
  })
  expect((await engine.history()).at(-1)).toBe('failed a')
})

test('a change that was refused is written down as failed, and is no change', async () => {
  const engine = new Engine()
  let turn = 0
  const waves = flip('w', {
    repeats: { atMost: Infinity, parallel: 1 },
    check: async () => (turn < 2 ? { is: 'todo', change: `restart ${turn}` } : { is: 'done' }),
    apply: async () => (turn++ === 0 ? { notApplied: 'the server says no' } : undefined),
  })
  const ended = await engine.run({ ...procedureOf(waves), reached: async () => false })
  expect(ended).toMatchObject({ changed: ['w'] })
  const entries = await engine.journal().entries()
  expect(entries.map(({ what, step, text }) => `${what} ${step}: ${text}`).slice(1, 5)).toEqual([
    'intends w#1: restart 0',
    'failed w#1: restart 0: the server says no',
    'intends w#2: restart 1',
    'applied w#2: restart 1',
  ])
  expect(engine.kinds().filter((kind) => kind === 'step-applied')).toHaveLength(1)
  turn = 0
  const alone = {
    ...waves,
    check: async () => ({ is: turn === 0 ? 'todo' : 'done', change: '' }) as StepState,
  }
  expect(await engine.run({ ...procedureOf(alone), reached: async () => false })).toMatchObject({
    changed: [],
  })
})

test('a step that repeats is applied at most so often, each time under its own key', async () => {
  const engine = new Engine()
  let wave = 0
  const waves = flip('w', {
    repeats: { atMost: 3, parallel: 1 },
    check: async () => (wave < 3 ? { is: 'todo', change: 'a wave' } : { is: 'done' }),
    apply: async () => void wave++,
  })
  await engine.run(procedureOf(waves))
  expect((await engine.history()).filter((line) => line.startsWith('applied'))).toEqual([
    'applied w#1',
    'applied w#2',
    'applied w#3',
  ])
  wave = -1
  await expect(engine.run(procedureOf(waves))).rejects.toMatchObject({ reason: 'too-many-repeats' })
})

test('wakes within a second of the change it follows, though it polls every minute', async () => {
  const engine = new Engine()
  const slow = awaitOn('a', { patience: { every: minute, atMost: 60 * minute } })
  engine.later(30 * second, () => engine.set({ a: 'on' }))
  await engine.run(procedureOf(slow))
  expect(engine.elapsed).toBeGreaterThanOrEqual(30 * second)
  expect(engine.elapsed).toBeLessThan(31 * second)
})

test('a burst of changes is looked at together', async () => {
  const engine = new Engine()
  const a = awaitOn('a')
  let checks = 0
  const counted = { ...a, check: (cx: Parameters<typeof a.check>[0]) => (checks++, a.check(cx)) }
  for (let i = 0; i < 50; i++) engine.later(20 * second + i, () => engine.set({ a: `${i}` }))
  engine.later(30 * second, () => engine.set({ a: 'on' }))
  await engine.run({ ...procedureOf(counted), reached: async () => false })
  expect(checks).toBeLessThan(10)
})

test('waiting costs next to no calls: the lock, and one look at the cluster a minute', async () => {
  const engine = new Engine()
  const restless = awaitOn('a', { patience: { every: 5 * second, atMost: 60 * minute } })
  engine.later(10 * minute, () => engine.set({ a: 'on' }))
  for (let i = 1; i < 9 * 60; i++) engine.later(i * second, () => engine.set({ b: `${i}` }))
  const before = engine.fake.calls.length
  await engine.run(procedureOf(restless))
  const calls = engine.fake.calls.slice(before)
  expect(calls.filter(({ name }) => name !== 'kvup').length).toBeLessThan(10 * 2 + 15)
  expect(calls.filter(({ verb, name }) => verb === 'patch' && name === 'kvup').length).toBeLessThan(125)
})

test('steps that follow the same thing share the stream', async () => {
  const engine = new Engine()
  engine.later(20 * second, () => engine.set({ a: 'on' }))
  engine.later(40 * second, () => engine.set({ b: 'on' }))
  await engine.run(procedureOf(awaitOn('a'), awaitOn('b')))
  expect(engine.fake.count('follow')).toBe(1)
  expect(engine.fake.watchers).toBe(0)
})

test('done seen from a watch is confirmed by the cluster before it counts', async () => {
  const engine = new Engine()
  engine.later(20 * second, () =>
    engine.fake.tell(ConfigMaps, {
      type: 'modified',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'setting', namespace: 'kubevirt' },
        data: { a: 'on' },
      } as never,
    }),
  )
  engine.later(3 * minute, () => engine.set({ a: 'on' }))
  await engine.run(procedureOf(awaitOn('a')))
  expect(engine.elapsed).toBeGreaterThanOrEqual(3 * minute)
})

test('a watch that is refused is said once, and it polls', async () => {
  const engine = new Engine()
  engine.fake.refuseWatches = 'configmaps is forbidden'
  engine.later(60 * second, () => engine.set({ a: 'on' }))
  await engine.run(procedureOf(awaitOn('a')))
  expect(engine.elapsed).toBeLessThanOrEqual(71 * second)
  expect(engine.events.filter(({ kind }) => kind === 'remark')).toMatchObject([
    { text: expect.stringContaining('configmaps is forbidden') },
  ])
})

test('a watch that is lost is polled until it is in sync again, and wakes the run from then on', async () => {
  const engine = new Engine()
  engine.later(20 * second, () => engine.fake.tell(ConfigMaps, { type: 'lost', why: 'connection reset' }))
  engine.later(60 * second, () => engine.fake.tell(ConfigMaps, { type: 'synced' }))
  engine.later(62 * second, () => engine.set({ a: 'on' }))
  await engine.run(procedureOf(awaitOn('a', { patience: { every: 30 * second, atMost: 5 * minute } })))
  expect(engine.elapsed).toBeLessThan(63 * second)
  expect(engine.fake.count('follow')).toBe(1)
  const looks = engine.fake.calls.filter(({ verb, name }) => verb === 'find' && name === 'setting')
  expect(looks.length).toBeGreaterThanOrEqual(5)
})

test('patience ends with exit 4, what was waited for, why and since when', async () => {
  const engine = new Engine()
  const stalled: StepState = {
    is: 'stalled',
    on: 'virt-handler',
    why: 'cannot pull the image',
    since: '2026-01-01T00:00:00Z',
    remedy: ['kvup status'],
  }
  const step = awaitOn('a', {
    check: async () => stalled,
    patience: { every: 10 * second, atMost: 5 * minute },
  })
  await expect(engine.run(procedureOf(step))).rejects.toMatchObject({
    exitCode: 4,
    message:
      'timed out after 5 m at "flip a"\nstalled for 5 m while waiting for virt-handler: cannot pull the image',
    remedy: ['kvup status'],
  })
  expect(engine.elapsed).toBeLessThan(5 * minute + 2 * second)
  expect(engine.events.filter(({ kind }) => kind === 'step-waiting')).toHaveLength(1)
})

test('the time of the whole run ends it too, and begins no change any more', async () => {
  const engine = new Engine()
  await expect(engine.run(procedureOf(awaitOn('a')), { timeoutMs: 90 * second })).rejects.toMatchObject({
    exitCode: 4,
    message: expect.stringContaining('timed out after 1 m 30 s (--timeout)'),
  })
  const late = awaitOn('c', { check: async (cx) => (await cx.clock.sleep(90 * second), { is: 'done' }) })
  await expect(engine.run(procedureOf(late, flip('b')), { timeoutMs: 90 * second })).rejects.toMatchObject({
    exitCode: 4,
  })
  expect(engine.value('b')).toBeUndefined()
})

test('a stalled step goes on waiting, and heals', async () => {
  const engine = new Engine()
  const step = awaitOn('a')
  engine.later(20 * second, () => engine.set({ a: 'on' }))
  const stalling = {
    ...step,
    check: async (cx: Parameters<typeof step.check>[0]): Promise<StepState> => {
      const state = await step.check(cx)
      return state.is === 'waiting' ? { is: 'stalled', on: 'a', why: 'nothing moves' } : state
    },
  }
  expect(await engine.run(procedureOf(stalling))).toMatchObject({ is: 'finished', changed: [] })
})

test('blocked ends the run with exit 3', async () => {
  const engine = new Engine()
  const step = flip('a', {
    check: async () => ({ is: 'blocked', by: 'a budget', reason: 'budget', remedy: ['wait'] }),
  })
  await expect(engine.run(procedureOf(step))).rejects.toMatchObject({
    exitCode: 3,
    reason: 'budget',
    message: 'flip a: a budget',
    remedy: ['wait'],
  })
})

test('a conflict inside apply is decided again; one that never ends is exit 3', async () => {
  const engine = new Engine()
  let refusals = 2
  const contested = flip('a', {
    async apply({ writer }) {
      if (refusals-- > 0) throw new ApiError(409, 'Conflict', 'the object has been modified')
      await writer.mergePatch(ConfigMaps, { name: 'setting', namespace: 'kubevirt' }, { data: { a: 'on' } })
    },
  })
  expect(await engine.run(procedureOf(contested))).toMatchObject({ changed: ['a'] })
  expect((await engine.history()).filter((line) => line === 'intends a')).toHaveLength(1)
  refusals = 1000
  engine.set({ a: 'off' })
  await expect(engine.run(procedureOf(contested))).rejects.toMatchObject({ exitCode: 3, reason: 'contested' })
})

test('a change that a webhook refuses for good is told with the line that shows the webhook', async () => {
  const refused = new ApiError(400, 'BadRequest', 'admission webhook "no.example" denied the request: never')
  const step = flip('a', { apply: () => Promise.reject(refused) })
  await expect(new Engine().run(procedureOf(step))).rejects.toMatchObject({
    message: refused.message,
    remedy: ['kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations'],
  })
})

test.each([0, 429, 500, 503])('an API server that answers %i for a while ends nothing', async (status) => {
  const engine = new Engine()
  engine.later(20 * second, () => {
    engine.fake.before = () => {
      throw new ApiError(status, 'Away', 'away')
    }
  })
  engine.later(50 * second, () => (engine.fake.before = () => undefined))
  engine.later(60 * second, () => engine.set({ a: 'on' }))
  const step = awaitOn('a', { watches: [], patience: { every: 2 * second, atMost: 10 * minute } })
  expect(await engine.run(procedureOf(step))).toMatchObject({ is: 'finished' })
  expect(engine.events.filter(({ kind }) => kind === 'remark')).toMatchObject([
    { text: 'the cluster does not answer properly, kvup retries: away' },
    { text: 'the cluster answers again' },
  ])
})

test('401 in the middle says how to go on, and waits', async () => {
  const engine = new Engine()
  engine.later(20 * second, () => {
    engine.fake.before = () => {
      throw new ApiError(401, 'Unauthorized', 'token expired')
    }
  })
  engine.later(5 * minute, () => (engine.fake.before = () => undefined))
  engine.later(6 * minute, () => engine.set({ a: 'on' }))
  await engine.run(procedureOf(awaitOn('a', { watches: [] })))
  expect(engine.events.filter(({ kind }) => kind === 'remark')).toMatchObject([
    { text: expect.stringContaining('log in again') },
    { text: 'the cluster answers again' },
  ])
})

test('403 ends at once with exit 7', async () => {
  const engine = new Engine()
  const step = flip('a', {
    apply: async () => {
      throw new ApiError(403, 'Forbidden', 'jane may not patch configmaps')
    },
  })
  await expect(engine.run(procedureOf(step))).rejects.toMatchObject({ exitCode: 7 })
  expect(engine.elapsed).toBeLessThan(second)
})

test('a failed write of unknown outcome is looked at, not repeated blindly', async () => {
  const engine = new Engine()
  let writes = 0
  const step = flip('a', {
    async apply({ writer }) {
      writes++
      await writer.mergePatch(ConfigMaps, { name: 'setting', namespace: 'kubevirt' }, { data: { a: 'on' } })
      throw new ApiError(0, '', 'connection reset')
    },
  })
  expect(await engine.run(procedureOf(step))).toMatchObject({ is: 'finished' })
  expect(writes).toBe(1)
})

test('Ctrl-C ends a wait within 2 s, is journalled, and throws its reason', async () => {
  const engine = new Engine()
  const reason = interrupted('SIGINT')
  engine.later(30 * second, () => engine.stop.abort(reason))
  await expect(engine.run(procedureOf(awaitOn('a')))).rejects.toBe(reason)
  expect(engine.elapsed).toBeLessThan(32 * second)
  expect((await engine.history()).at(-1)).toBe('interrupted a')
  expect(engine.fake.watchers).toBe(0)
})

test('Ctrl-C while the API server hangs: still within 2 s', async () => {
  const engine = new Engine()
  const reason = interrupted('SIGTERM')
  engine.later(29 * second, () => (engine.fake.before = () => new Promise(() => undefined)))
  engine.later(30 * second, () => engine.stop.abort(reason))
  await expect(engine.run(procedureOf(awaitOn('a', { watches: [] })))).rejects.toBe(reason)
  expect(engine.elapsed).toBeLessThanOrEqual(32 * second)
})

test.each(['started', 'intends'])(
  'Ctrl-C while writing "%s" down hangs: still within 2 s, and nothing is changed',
  async (what) => {
    const engine = new Engine()
    const reason = interrupted('SIGINT')
    let patches = 0
    engine.fake.before = async ({ verb, name }) => {
      if (name !== 'kvup-journal' || verb === 'find') return
      if (what === 'started' || ++patches > 1) await new Promise(() => undefined)
    }
    engine.later(30 * second, () => engine.stop.abort(reason))
    await expect(engine.run(procedureOf(flip('a')))).rejects.toBe(reason)
    expect(engine.elapsed).toBeLessThanOrEqual(32 * second)
    expect(engine.value('a')).toBeUndefined()
  },
)

test('Ctrl-C never interrupts an apply', async () => {
  const engine = new Engine()
  const reason = interrupted('SIGINT')
  const slow = flip('a', {
    async apply({ writer, clock }) {
      engine.stop.abort(reason)
      await clock.sleep(4 * second)
      await writer.mergePatch(ConfigMaps, { name: 'setting', namespace: 'kubevirt' }, { data: { a: 'on' } })
    },
  })
  await expect(engine.run(procedureOf(slow, flip('b')))).rejects.toBe(reason)
  expect(engine.value('a')).toBe('on')
  expect(engine.value('b')).toBeUndefined()
  expect(await engine.history()).toEqual(['started', 'intends a', 'applied a', 'interrupted a'])
})

test('nothing is changed when the journal cannot be written', async () => {
  const engine = new Engine()
  engine.fake.before = ({ verb, name }) => {
    if (name === 'kvup-journal' && verb !== 'find')
      throw new ApiError(403, 'Forbidden', 'may not create configmaps')
  }
  await expect(engine.run(procedureOf(flip('a')))).rejects.toMatchObject({ exitCode: 7 })
  expect(engine.value('a')).toBeUndefined()
})

test('steps may be found on the way, and an unchanged list is not told again', async () => {
  const engine = new Engine()
  const procedure = {
    ...procedureOf(flip('a'), flip('b')),
    steps: async () => (engine.value('a') === 'on' ? [flip('a'), flip('b')] : [flip('a')]),
  }
  expect(await engine.run(procedure)).toMatchObject({ changed: ['a', 'b'] })
  expect(engine.kinds().filter((kind) => kind === 'steps-known')).toHaveLength(1)
})
