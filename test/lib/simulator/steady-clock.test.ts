import { expect, test } from 'vitest'
import { SimClock, SteadyClock } from '../../../src/simulator/simulated-clock.ts'
import type { Clock } from '../../../src/lib/kube/clock.ts'

/** A wall on which nothing is ever late, and one on which the process pauses for so many ms once. */
function wall(): { clock: Clock; pause: (ms: number) => void } {
  const inner = new SimClock()
  let paused = 0
  return {
    clock: {
      now: () => new Date(inner.now().getTime() + paused),
      sleep: (ms, signal) => inner.sleep(ms, signal),
    },
    pause: (ms) => (paused += ms),
  }
}

const since = (clock: Clock, start: number) => clock.now().getTime() - start

test('a minute takes a fifth of a second at 300 times the speed', async () => {
  const { clock } = wall()
  const steady = new SteadyClock(clock, 300)
  const [start, began] = [steady.now().getTime(), clock.now().getTime()]
  await steady.sleep(60_000)
  expect(since(steady, start)).toBe(60_000)
  expect(since(clock, began)).toBe(200)
})

test('a pause of the process of a tenth of a second counts as four seconds, not thirty: no Lease of 15 s is lost in it', async () => {
  const { clock, pause } = wall()
  const steady = new SteadyClock(clock, 300)
  const start = steady.now().getTime()
  const renewed = steady.sleep(5000).then(() => since(steady, start))
  pause(100)
  await clock.sleep(4)
  expect(since(steady, start)).toBe(4000)
  expect(await renewed).toBe(5000)
})

test('who sleeps is woken in the order of his time, and who sleeps again within one look too', async () => {
  const { clock } = wall()
  const steady = new SteadyClock(clock, 1000)
  const start = steady.now().getTime()
  const woken: string[] = []
  const wake = async (name: string, ms: number) => {
    await steady.sleep(ms)
    woken.push(`${name} ${since(steady, start)}`)
  }
  const chain = async () => {
    await wake('a', 100)
    await wake('b', 100)
  }
  await Promise.all([wake('late', 250), chain(), wake('first', 50), wake('middle', 150)])
  expect(woken).toEqual(['first 50', 'a 100', 'middle 150', 'b 200', 'late 250'])
})

test('a sleep ends with its signal, and with its reason', async () => {
  const steady = new SteadyClock(wall().clock, 10)
  const end = new AbortController()
  const sleeping = steady.sleep(60_000, end.signal)
  end.abort(new Error('enough'))
  await expect(sleeping).rejects.toThrow('enough')
  await expect(steady.sleep(1, end.signal)).rejects.toThrow('enough')
})
