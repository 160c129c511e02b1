import { expect, test } from 'vitest'
import { KvupError } from '../../../src/lib/kube/errors.ts'
import { awaitOn, Engine, flip, minute, procedureOf, second } from './engine.ts'

test('--until ends after that step', async () => {
  const engine = new Engine()
  expect(await engine.run(procedureOf(flip('a'), flip('b')), { until: 'a' })).toMatchObject({
    is: 'stopped-before',
    because: 'until',
    step: { id: 'b' },
    changed: ['a'],
    safeToLeave: 'always',
  })
  expect([engine.value('a'), engine.value('b')]).toEqual(['on', undefined])
  expect((await engine.history()).at(-1)).toBe('interrupted b')
})

test('--until the last step is a whole run', async () => {
  const engine = new Engine()
  expect(await engine.run(procedureOf(flip('a')), { until: 'a' })).toMatchObject({ is: 'finished' })
})

test('--pause-before ends before that step, and passes over it when it is done', async () => {
  const engine = new Engine()
  const procedure = procedureOf(flip('a'), flip('b'), flip('c'))
  expect(await engine.run(procedure, { pauseBefore: ['b'] })).toMatchObject({
    because: 'pause-before',
    step: { id: 'b' },
  })
  expect(engine.value('b')).toBeUndefined()
  engine.set({ b: 'on' })
  expect(await engine.run(procedure, { pauseBefore: ['b'] })).toMatchObject({
    is: 'finished',
    changed: ['c'],
  })
})

test('--pause-before a wait is exit 2 with the change before it, and nothing is written', async () => {
  const engine = new Engine()
  const steps = procedureOf(awaitOn('first'), flip('a'), flip('c', { closes: true }), awaitOn('b'))
  for (const id of ['c', 'b'])
    await expect(engine.run(steps, { pauseBefore: [id] })).rejects.toMatchObject({
      exitCode: 2,
      reason: 'step-not-held',
      message: `${id} cannot be held: --pause-before a`,
    })
  await expect(engine.run(steps, { pauseBefore: ['a', 'first'] })).rejects.toMatchObject({
    message: 'first cannot be held: it changes nothing, and no step before it does',
  })
  expect(engine.fake.writes()).toEqual([])
})

test('a step that does not exist is exit 2, before the lock', async () => {
  const engine = new Engine()
  await expect(engine.run(procedureOf(flip('a')), { until: 'A' })).rejects.toMatchObject({
    exitCode: 2,
    remedy: expect.arrayContaining(['the steps are: a']) as string[],
  })
  await expect(engine.run(procedureOf(flip('a')), { pauseBefore: ['a', 'x'] })).rejects.toMatchObject({
    exitCode: 2,
  })
  expect(engine.fake.writes()).toEqual([])
})

test('--deadline starts no change that would pass it, the waits that belong to it included', async () => {
  const engine = new Engine()
  const set = flip('a', { estimate: 5 * second })
  const roll = awaitOn('b', { estimate: 20 * minute })
  const deadline = new Date(engine.clock.now().getTime() + 10 * minute)
  expect(await engine.run(procedureOf(set, roll, flip('c')), { deadline })).toMatchObject({
    is: 'stopped-before',
    because: 'deadline',
    step: { id: 'a' },
    changed: [],
  })
  expect(engine.value('a')).toBeUndefined()
})

test('--deadline does not leave what is on its way', async () => {
  const engine = new Engine({ a: 'on' })
  const deadline = new Date(engine.clock.now().getTime() + minute)
  engine.later(5 * minute, () => engine.set({ b: 'on' }))
  const roll = awaitOn('b', { estimate: 20 * minute })
  expect(await engine.run(procedureOf(flip('a'), roll, flip('c')), { deadline })).toMatchObject({
    because: 'deadline',
    step: { id: 'c' },
  })
  expect(engine.elapsed).toBeGreaterThanOrEqual(5 * minute)
})

const named = (wrong: string) =>
  new Engine()
    .run(procedureOf(flip('virt-handler'), flip('virt-controller')), { until: wrong })
    .then(() => undefined)
    .catch((error: unknown) => (error instanceof KvupError ? [error.reason, ...error.remedy] : error))
const listed = [
  'the steps are: virt-handler, virt-controller',
  'without it, the same line with --dry-run=client -o name lists them',
]

test.each(['virt-handlr', 'step/virt-handler', 'virt-hanlder'])(
  'a step that is named wrongly (%s): the nearest, all of them, and how they are listed',
  async (wrong) => {
    expect(await named(wrong)).toEqual(['no-such-step', 'did you mean virt-handler?', ...listed])
  },
)

test('a name that is near none is not guessed', async () => {
  expect(await named('reboot')).toEqual(['no-such-step', ...listed])
})
