import { expect, test } from 'vitest'
import { isDoneWithin } from '../../src/lib/kube/interruption.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'

const took = async (work: (clock: SimClock) => Promise<void>) => {
  const clock = new SimClock()
  const began = clock.now().getTime()
  const isDone = await isDoneWithin(clock, 500, work(clock))
  return { isDone, ms: clock.now().getTime() - began }
}

test('what never ends is given up after the time there is, and not before', async () => {
  expect(await took(() => new Promise(() => undefined))).toEqual({ isDone: false, ms: 500 })
  expect(await took((clock) => clock.sleep(600))).toEqual({ isDone: false, ms: 500 })
})

test('what is done in time costs no more than it takes', async () => {
  expect(await took((clock) => clock.sleep(20))).toEqual({ isDone: true, ms: 20 })
})

const fails = async (clock: SimClock, ms: number) => {
  await clock.sleep(ms)
  throw new Error('no')
}

test('a failure is no answer, early or late', async () => {
  expect(await took((clock) => fails(clock, 20))).toEqual({ isDone: false, ms: 20 })
  expect(await took((clock) => fails(clock, 600))).toEqual({ isDone: false, ms: 500 })
})
