import { describe, expect, test } from 'vitest'
import { ClusterClock } from '../../../src/lib/kube/http/cluster-clock.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { clockSkew, ownTicks } from '../../../src/lib/kube/clock.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
/** What it is in the cluster, not at a whole second. */
const there = Date.parse('2026-11-22T05:00:00.700Z')

/** The server's time, as its header has it. */
const cut = (time: number) => Math.floor(time / second) * second

/** An answer that took `ms`, written half-way, heard by a clock that is so far ahead. */
const answer = (ahead: number, ms = 20, at = there) => ({
  sent: at + ahead - ms / 2,
  received: at + ahead + ms / 2,
  date: cut(at),
})

class FixedClock extends SimClock {
  ahead = 0
  override now = () => new Date(there + this.ahead)
}

function heard(...answers: ReturnType<typeof answer>[]) {
  const clock = new ClusterClock(new FixedClock())
  return { clock, changes: answers.map((one) => clock.hear(one)) }
}

describe('the first answer', () => {
  test.each([
    [0, 20],
    [1 * second, 20],
    [-1 * second, 20],
    [2 * second, 20],
    [-2.5 * second, 20],
    // A slow answer was written at any time on its way: such a difference may be none.
    [7 * second, 12 * second],
    [-7 * second, 12 * second],
  ])('a clock that is %i ms ahead, as an answer of %i ms tells, stays as it is', (ahead, ms) => {
    const { clock, changes } = heard(answer(ahead, ms))
    expect([clock.ahead, changes]).toEqual([0, [false]])
  })

  test.each([
    [1 * hour, 20],
    [-1 * hour, 20],
    [4 * second, 20],
    [-4 * second, 20],
    [1 * hour, 12 * second],
    [-40 * 24 * hour, 20],
  ])(
    'one that is %i ms ahead is put right, to a second and half the way of the answer: %i ms',
    (ahead, ms) => {
      const local = new FixedClock()
      local.ahead = ahead
      const clock = new ClusterClock(local)
      expect(clock.now().getTime() - there).toBe(ahead)
      expect(clock.hear(answer(ahead, ms))).toBe(true)
      expect(Math.abs(clock.now().getTime() - there)).toBeLessThanOrEqual(second / 2 + ms / 2)
    },
  )
})

describe('later answers', () => {
  test('they say the same, or servers that differ by seconds: time does not jump between them', () => {
    const { clock, changes } = heard(answer(hour), answer(hour + 5 * second), answer(hour - 30 * second))
    expect(changes).toEqual([true, false, false])
    expect(Math.abs(clock.ahead - hour)).toBeLessThanOrEqual(second)
  })
})

/** A machine whose clock can be set, and whose ticks go on. */
class SettableClock extends SimClock {
  #set = 0
  #ticked = 0
  override now = () => new Date(there + this.#ticked + this.#set)
  ticks = () => this.#ticked
  set(ms: number): void {
    this.#set += ms
  }
  pass(ms: number): void {
    this.#ticked += ms
  }
  /** What a server whose clock is so far ahead of the cluster's says, at once. */
  answer(serverAhead = 0) {
    const now = this.now().getTime()
    return { sent: now, received: now, date: cut(there + this.#ticked + serverAhead) }
  }
  /** By how much a clock is off from the cluster's time. */
  off = (clock: ClusterClock) => Math.abs(clock.now().getTime() - there - this.#ticked)
}

describe('trust M8: nobody moves time', () => {
  const settable = new SettableClock()
  const run = (local: SettableClock, ...said: number[]) => {
    const clock = new ClusterClock(local)
    const began = clock.ticks()
    for (const ahead of said) {
      local.pass(5 * second)
      clock.hear(local.answer(ahead))
    }
    return { clock, took: clock.ticks() - began, off: local.off(clock) }
  }

  test.each([
    ['jumps two hours ahead', [0, 0, 0, 2 * hour, 2 * hour, 2 * hour]],
    ['jumps two hours back', [0, 0, -2 * hour, -2 * hour]],
    ['stands still', [0, -5, -10, -15, -20, -25, -200, -400].map((at) => at * second)],
    ['is that of three servers, one of which is off', [0, 0, 90 * second, 0, 0, 90 * second]],
    ['is at first that of the server that is off', [2 * hour, 0, 0, 2 * hour, 0, 0]],
    ['is at first that of the one that is behind', [-2 * hour, 0, -2 * hour]],
  ])('a Date that %s', (_, said) => {
    const { took, off } = run(new SettableClock(), ...said)
    expect(took).toBe(said.length * 5 * second)
    expect(off).toBeLessThanOrEqual(2 * second)
  })

  test.each([hour, -hour, 40 * second])('who sets this machine by %i ms, while it runs', (by) => {
    const local = new SettableClock()
    const { clock } = run(local, 0, 0)
    const before = clock.ticks()
    local.set(by)
    expect(local.off(clock)).toBeLessThanOrEqual(2 * second)
    local.pass(5 * second)
    clock.hear(local.answer())
    expect(local.off(clock)).toBeLessThanOrEqual(2 * second)
    expect(clock.ticks() - before).toBe(5 * second)
  })

  test('a machine that was wrong and is set right is right, and the other way round', () => {
    for (const wrong of [hour, -hour]) {
      const local = new SettableClock()
      local.set(wrong)
      const { clock, off } = run(local, 0)
      expect(off).toBeLessThanOrEqual(2 * second)
      expect(Math.abs(clock.ahead - wrong)).toBeLessThanOrEqual(second)
      local.set(-wrong)
      clock.hear(local.answer())
      expect(clock.ahead).toBe(0)
      local.set(wrong)
      expect(clock.hear(local.answer())).toBe(true)
      expect(Math.abs(clock.ahead - wrong)).toBeLessThanOrEqual(second)
    }
  })

  test('a machine that slept knows the time again from the next answer on', () => {
    const { clock } = run(settable, 0)
    // Its ticks stood still meanwhile.
    settable.set(3 * hour)
    clock.hear(settable.answer(3 * hour))
    expect(Math.abs(clock.now().getTime() - settable.now().getTime())).toBeLessThanOrEqual(2 * second)
  })
})

test('sleeping, and what takes so long on this machine, is as it was', async () => {
  const local = new SimClock('2026-11-22T06:00:00Z')
  const clock = new ClusterClock(local)
  const began = ownTicks(clock)
  await clock.sleep(5 * second)
  clock.hear({ date: cut(there), sent: local.now().getTime(), received: local.now().getTime() })
  expect(clock.now().toISOString()).toBe('2026-11-22T05:00:00.500Z')
  expect(ownTicks(clock) - began).toBe(5 * second)
  expect(local.now().toISOString()).toBe('2026-11-22T06:00:05.000Z')
  const over = AbortSignal.abort(new Error('enough'))
  await expect(clock.sleep(hour, over)).rejects.toThrow('enough')
})

test.each([
  [62 * minute + 400, '1 h 02 m ahead of'],
  [-62 * minute - 400, '1 h 02 m behind'],
  [hour - 500, '1 h ahead of'],
  [3600, '4 s ahead of'],
  [-3 * minute - 4000, '3 m 04 s behind'],
])('%i ms in words', (ahead, words) => {
  expect(clockSkew(ahead)).toBe(
    `the clock of this computer is ${words} the cluster's: kvup shows the cluster's times`,
  )
})

test('a simulated cluster whose time runs 60 times as fast is followed: nothing is put right, and sleeps are as much shorter', async () => {
  const local = new SimClock()
  const began = local.now().getTime()
  const clock = new ClusterClock(local)
  clock.runAt(60)
  const theirs = () => began + hour + (local.now().getTime() - began) * 60
  const hear = () => {
    const at = local.now().getTime()
    return clock.hear({ date: cut(theirs()), sent: at - 20, received: at + 20 })
  }
  expect(hear()).toBe(true)
  await clock.sleep(10 * minute)
  expect(local.now().getTime() - began).toBe(10 * second)
  expect(hear()).toBe(false)
  expect(Math.abs(clock.now().getTime() - theirs())).toBeLessThanOrEqual(2 * second)
  expect([clock.ahead, ownTicks(clock)]).toEqual([0, began + 10 * second])
})
