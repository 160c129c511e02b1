import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Step } from '../../../src/lib/engine/step.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { Engine, flip, minute, procedureOf, second } from './engine.ts'

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
