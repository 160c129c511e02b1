import { expect, test } from 'vitest'
import type { FleetResult } from '../../../src/lib/fleet/fleet-report.ts'
import { failuresOf, leftOf, soakLeft, stopOf } from '../../../src/lib/fleet/fleet-rules.ts'

const result = (
  name: string,
  wave: number,
  outcome: FleetResult['outcome'],
  reason?: string,
): FleetResult => ({
  name,
  context: name,
  uid: name,
  wave,
  outcome,
  ...(reason !== undefined && { error: { code: 3, reason, message: 'why' } }),
})

const canary = (outcome: FleetResult['outcome']) => result('canary', 0, outcome)
const later = (outcome: FleetResult['outcome'], reason?: string) => result('later', 1, outcome, reason)
const rest = [result('a', 2, 'not-begun'), result('b', 2, 'not-begun')]

test.each(['failed', 'unreachable', 'needs-person', 'interrupted'] as const)(
  'a canary that is %s ends the run, however many failures it may have',
  (outcome) => {
    expect(stopOf([canary(outcome), later('done'), ...rest], '100%')).toMatchObject({
      what: 'the canary failed',
      worst: { name: 'canary' },
    })
  },
)

test('what has not begun, is done or needs nothing is no failure', () => {
  const all = [canary('done'), later('nothing-to-do'), ...rest]
  expect(failuresOf(all)).toEqual([])
  expect(stopOf(all, '1')).toBeUndefined()
})

const among = (one: FleetResult) => stopOf([canary('done'), one, ...rest], '3')?.what

test('a person who is needed ends the run, and so does an alert, where more failures are allowed', () => {
  expect(among(later('needs-person'))).toBe('a person is needed')
  expect(among(later('failed', 'alert-firing'))).toBe('--stop-on-alert')
  expect(among(later('failed', 'alerts-not-read'))).toBe('--stop-on-alert')
  expect(among(later('failed', 'stalled'))).toBeUndefined()
})

test('so many failures end the run, whether their turn has come or not', () => {
  const one = [canary('not-begun'), later('unreachable'), ...rest]
  expect(stopOf(one, '1')).toMatchObject({ what: '1 failed (--stop-after 1)', worst: { name: 'later' } })
  // One of four is 25%; with two it goes on, and the canary is not to blame.
  expect(stopOf(one, '25%')?.what).toBe('1 failed (--stop-after 25%)')
  expect(stopOf(one, '2')).toBeUndefined()
  expect(stopOf(one, '26%')).toBeUndefined()
})

test('a cluster that was left is no success; of one cluster alone the others do not count', () => {
  const all = [canary('done'), later('nothing-to-do'), ...rest]
  expect(leftOf(all).map(({ name }) => name)).toEqual(['a', 'b'])
  expect(leftOf(all, 'canary')).toEqual([])
  expect(leftOf(all, 'a').map(({ name }) => name)).toEqual(['a'])
})

test.each([
  ['just now', 1000, 60_000],
  ['half of it ago', -29_000, 30_000],
  ['long ago', -600_000, 0],
  ['in the future', 90_000, 60_000],
  ['at a time that is none', NaN, 60_000],
])('done %s', (_, doneAt, left) => {
  const now = 1000
  expect(Math.max(0, soakLeft(doneAt, { now, soakSeconds: 60 }))).toBe(left)
})
