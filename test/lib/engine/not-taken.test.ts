import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Step } from '../../../src/lib/engine/step.ts'
import { ApiError, unreachable } from '../../../src/lib/kube/errors.ts'
import { awaitOn, Engine, flip, minute, procedureOf, second } from './engine.ts'

const setting = { name: 'setting', namespace: 'kubevirt' }

test('a change that is not taken while all else answers: each reason is said once, and it is tried less and less often', async () => {
  const engine = new Engine()
  const tries: number[] = []
  const step = flip('a', {
    async apply({ writer }) {
      tries.push(engine.elapsed)
      if (engine.elapsed < 2 * minute) throw new ApiError(503, 'ServiceUnavailable', 'nobody answers')
      if (engine.elapsed < 4 * minute) throw new ApiError(503, 'ServiceUnavailable', 'not ready yet')
      await writer.mergePatch(ConfigMaps, setting, { data: { a: 'on' } })
    },
  })
  const patient = { ...step, patience: { every: 2 * second, atMost: 10 * minute } }
  expect(await engine.run(procedureOf(patient))).toMatchObject({ is: 'finished', changed: ['a'] })
  expect(engine.events.filter(({ kind }) => kind === 'remark')).toMatchObject([
    { text: 'the cluster does not answer properly, kvup retries: nobody answers' },
    { text: 'the cluster does not answer properly, kvup retries: not ready yet' },
  ])
  const waits = engine.events.filter(({ kind }) => kind === 'step-waiting')
  expect(waits).toMatchObject([{ state: { on: 'the change to be taken' } }])
  expect(tries.length).toBeLessThan(60)
})

test('a reason that was said is said again of the next change that is not taken', async () => {
  const engine = new Engine()
  await engine.run(procedureOf(refusedOnce('a'), refusedOnce('b')))
  const remarks = engine.events.filter(({ kind }) => kind === 'remark')
  expect(remarks.map((event) => 'text' in event && event.text.slice(-14))).toEqual([
    'nobody answers',
    'nobody answers',
  ])
})

function refusedOnce(name: string): Step {
  let tried = false
  return flip(name, {
    async apply({ writer }) {
      if (tried) await writer.mergePatch(ConfigMaps, setting, { data: { [name]: 'on' } })
      else {
        tried = true
        throw new ApiError(503, 'ServiceUnavailable', 'nobody answers')
      }
    },
  })
}

/** Nobody answers from the first call that fits on, for so long; what was sent is lost or, `told` false, only its answer. */
function silentFor(engine: Engine, ms: number, from: string): void {
  let until: number | undefined
  engine.fake.before = async ({ verb, name }) => {
    if (`${verb} ${name}` === from) until ??= engine.elapsed + ms
    if (until === undefined || engine.elapsed >= until) return
    await engine.clock.sleep(10 * second)
    throw unreachable('unreachable', 'connect ECONNREFUSED')
  }
}

const impatient = { patience: { every: 10 * second, atMost: minute } }

test.each(['find setting', 'patch setting', 'patch kvup-journal'])(
  'a silence of 40 min that begins at %s ends no step with a patience of 1 min, only a run whose own limit is shorter',
  async (from) => {
    const engine = new Engine()
    const begin = () => silentFor(engine, 40 * minute, from)
    const steps = () => ({
      ...procedureOf(flip('a', impatient), awaitOn('b', impatient)),
      begin: async () => begin(),
    })
    engine.later(41 * minute, () => engine.set({ b: 'on' }))
    expect(await engine.run(steps(), { stalledMs: minute })).toMatchObject({ is: 'finished' })
    const another = new Engine()
    await expect(
      another.run(
        { ...procedureOf(flip('a', impatient)), begin: async () => silentFor(another, 40 * minute, from) },
        { timeoutMs: 30 * minute },
      ),
    ).rejects.toMatchObject({ exitCode: 4, message: expect.stringContaining('(--timeout)') as string })
  },
)
