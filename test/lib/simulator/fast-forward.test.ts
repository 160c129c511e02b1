import { expect, test } from 'vitest'
import type { Clock } from '../../../src/lib/kube/clock.ts'
import { FastForward } from '../../../src/simulator/simulated-clock.ts'

/** A wall clock whose timers are counted. */
function countingWall() {
  const wall = { timers: 0, fire: [] as (() => void)[] }
  const clock: Clock = {
    now: () => new Date('2026-01-01T00:00:00Z'),
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        wall.timers++
        const over = () => wall.timers--
        wall.fire.push(() => {
          over()
          resolve()
        })
        signal?.addEventListener('abort', () => {
          over()
          reject(signal.reason as Error)
        })
      }),
  }
  return { wall, clock }
}

test('an alarm that is handed over to the wall rings there, and one that is cancelled leaves no timer', async () => {
  const { wall, clock } = countingWall()
  const time = new FastForward(clock, 60_000)
  const rung: string[] = []
  const cancel = time.after(300_000, () => rung.push('cancelled'))
  time.after(120_000, () => rung.push('kept'))
  await time.arrive()
  expect(wall.timers).toBe(2)
  cancel()
  await Promise.resolve()
  expect(wall.timers).toBe(1)
  for (const fire of wall.fire) fire()
  await new Promise((resolve) => setImmediate(resolve))
  expect(rung).toEqual(['kept'])
})
