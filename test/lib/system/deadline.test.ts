import { expect, test } from 'vitest'
import { ensureDeadline, parseDeadline } from '../../../src/lib/system/deadline.ts'

const now = new Date('2026-11-22T13:30:00Z')

/** The tests' time zone is UTC. */
test.each([
  ['14:00', '2026-11-22T14:00:00.000Z'],
  ['13:30', '2026-11-23T13:30:00.000Z'],
  ['4:05', '2026-11-23T04:05:00.000Z'],
  ['2026-11-22T13:30:01Z', '2026-11-22T13:30:01.000Z'],
  ['2026-11-22T15:00:00+01:00', '2026-11-22T14:00:00.000Z'],
])('%s is %s', (text, time) => {
  expect(parseDeadline(text, now).toISOString()).toBe(time)
})

test('one that is over is refused by the time that is passed in, and by no other', () => {
  const over = '2026-11-22T13:30:00Z'
  expect(() => parseDeadline(over, now)).toThrow('--deadline 2026-11-22T13:30:00Z is over already')
  expect(() => ensureDeadline(over)).not.toThrow()
})

test.each(['25:00', '14', 'tomorrow', '2026-11-22', '2026-13-22T00:00:00Z', ''])(
  '%j is no deadline at any time',
  (text) => {
    expect(() => ensureDeadline(text)).toThrow(/--deadline takes 04:30 or a time/u)
    expect(() => parseDeadline(text, now)).toThrow(/--deadline takes 04:30 or a time/u)
  },
)
