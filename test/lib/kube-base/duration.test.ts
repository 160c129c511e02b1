import { expect, test } from 'vitest'
import { parseDuration, spanText, takesAlike } from '../../../src/lib/kube/duration.ts'

test.each([
  ['90s', 90_000],
  ['5m', 300_000],
  ['1h30m', 5_400_000],
  ['0s', 0],
  ['250ms', 250],
  ['1.5h', 5_400_000],
  ['2d', 172_800_000],
])('%s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each(['90', '', 'm', '5 m', '5x', '-5m', '1h30', '5mm', 'forever'])('%j is exit 2', (text) => {
  expect(() => parseDuration(text)).toThrow(
    expect.objectContaining({ exitCode: 2, reason: 'not-a-duration' }),
  )
})

test.each(['25d', '99999999h', '1e400s', `${'9'.repeat(400)}s`])(
  '%j is exit 2 and no timer that goes off at once',
  (text) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ exitCode: 2 }))
  },
)

test('24 days are possible', () => {
  expect(parseDuration('24d')).toBe(24 * 86_400_000)
})

test('manner 14: a bare number is told its units', () => {
  expect(() => parseDuration('90')).toThrow(
    expect.objectContaining({ remedy: ['90s for seconds, 90m for minutes'] }),
  )
})

test.each([
  [0, '0 s'],
  [999, '0 s'],
  [9_000, '9 s'],
  [45_000, '45 s'],
  [65_000, '1 m 05 s'],
  [192_000, '3 m 12 s'],
  [5_400_000, '1 h 30 m'],
  [3_600_000, '1 h'],
  [3_605_000, '1 h'],
  [50 * 3_600_000, '2 d 2 h'],
  [12 * 86_400_000 + 4 * 3_600_000 + 60_000, '12 d 4 h'],
])('%d ms is %s', (ms, text) => {
  expect(spanText(ms)).toBe(text)
})

test.each([
  [1, 3, true],
  [0, 2, true],
  [3, 1, true],
  [1, 4, false],
  [0, 3, false],
  [3, 6, true],
  [3, 7, false],
  [4, 2, true],
  [4, 1, false],
  [30, 15, true],
  [30, 14, false],
  [30, 60, true],
  [30, 61, false],
])('what was expected to take %i s and took %i s: alike %s', (expected, took, alike) => {
  expect(takesAlike(expected * 1000, took * 1000)).toBe(alike)
})
