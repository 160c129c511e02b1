import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { StepState } from '../../../src/lib/engine/step.ts'
import { awaitOn, Engine, flip, minute, procedureOf, second, setting } from './engine.ts'

/** Stalled while `setting.data[id]` is `broken`, waiting otherwise. */
const mayStall = (id: string) =>
  awaitOn(id, {
    patience: { every: 10 * second, atMost: 60 * minute },
    async check({ reader }): Promise<StepState> {
      const found = await reader.get(ConfigMaps, setting)
      const value = found.is === 'object' ? found.object.data?.[id] : undefined
      if (value === 'on') return { is: 'done' }
      if (value === 'broken')
        return { is: 'stalled', on: 'the pod', why: 'it cannot pull', remedy: ['kubectl describe pod'] }
      return { is: 'waiting', on: 'the pod' }
    },
  })

const ended = async (run: Promise<unknown>): Promise<unknown> => run.catch((error: unknown) => error)

test('a stall that lasts as long as --stalled-after ends the run with exit 4, its cause and what helps', async () => {
  const engine = new Engine({ a: 'broken' })
  const error = await ended(engine.run(procedureOf(mayStall('a')), { stalledMs: 5 * minute }))
  expect(error).toMatchObject({
    exitCode: 4,
    reason: 'stalled',
    message: 'stalled for 5 m (--stalled-after) at flip a: it cannot pull',
    remedy: ['kubectl describe pod'],
  })
  expect(engine.elapsed).toBeGreaterThanOrEqual(5 * minute)
  expect(engine.elapsed).toBeLessThan(5 * minute + 5 * second)
  expect(await engine.history()).toEqual(['started', 'failed a'])
})

test('without it the run waits as long as the step may', async () => {
  const engine = new Engine({ a: 'broken' })
  expect(await ended(engine.run(procedureOf(mayStall('a'))))).toMatchObject({ reason: 'timed-out' })
  expect(engine.elapsed).toBeGreaterThanOrEqual(60 * minute)
})

test('what heals for a moment begins anew, and what only waits is no stall', async () => {
  const engine = new Engine({ a: 'broken' })
  engine.later(4 * minute, () => engine.set({ a: 'better' }))
  engine.later(20 * minute, () => engine.set({ a: 'broken' }))
  engine.later(24 * minute, () => engine.set({ a: 'on' }))
  const run = engine.run(procedureOf(mayStall('a')), { stalledMs: 5 * minute })
  expect(await run).toMatchObject({ is: 'finished' })
})

test('the same run again goes on where it ended, and waits as long again', async () => {
  const engine = new Engine({ b: 'broken' })
  const procedure = procedureOf(flip('a'), mayStall('b'))
  const limits = { stalledMs: 2 * minute }
  expect(await ended(engine.run(procedure, limits))).toMatchObject({ reason: 'stalled' })
  expect(engine.value('a')).toBe('on')
  engine.later(minute, () => engine.set({ b: 'on' }))
  expect(await engine.run(procedure, limits)).toMatchObject({ is: 'finished', changed: [] })
})
