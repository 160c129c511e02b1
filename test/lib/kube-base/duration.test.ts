import { expect, test } from 'vitest'
import { parseDuration, spanText, takesAlike } from '../../../src/lib/kube/duration.ts'
import fixture from './duration.json' with { type: 'json' }

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

test.each<[number, string]>(fixture.spans as never)('%d ms is %s', (ms, text) => {
  expect(spanText(ms)).toBe(text)
})

test.each<[number, number, boolean]>(fixture.alike as never)(
  'what was expected to take %i s and took %i s: alike %s',
  (expected, took, alike) => {
    expect(takesAlike(expected * 1000, took * 1000)).toBe(alike)
  },
)
