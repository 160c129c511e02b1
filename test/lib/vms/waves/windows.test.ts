import { expect, test } from 'vitest'
import { nextOpening, openUntil, parseWindow } from '../../../../src/lib/vms/waves/pacing.ts'
import fixture from './windows.json' with { type: 'json' }

const at = (text: string) => Date.parse(text)
const iso = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16)

/** When the window is open around a time: opening and end in UTC. */
function around(typed: string, time: string): readonly (string | undefined)[] {
  const windows = [parseWindow(typed)]
  const opens = nextOpening(windows, at(time))
  return [iso(opens), opens === undefined ? undefined : iso(openUntil(windows, opens))]
}

test.each<[string, string, string[], string?]>(fixture.opens as never)(
  '%s, from %s',
  (typed, from, expected) => {
    expect(around(typed, from)).toEqual(expected)
  },
)

test('several windows that touch are one', () => {
  const windows = ['Sat 22:00-24:00 UTC', 'Sun 00:00-04:00 UTC'].map(parseWindow)
  expect(iso(openUntil(windows, at('2026-01-10T23:00Z')))).toBe('2026-01-11T04:00')
  expect(openUntil(windows, at('2026-01-10T21:59Z'))).toBeUndefined()
})

test('of two windows the one that comes first opens, and a gap between them is closed', () => {
  const windows = ['Sun 02:00-03:00 UTC', 'Sat 22:00-23:00 UTC'].map(parseWindow)
  expect(iso(nextOpening(windows, at('2026-01-10T12:00Z')))).toBe('2026-01-10T22:00')
  expect(iso(openUntil(windows, at('2026-01-10T22:30Z')))).toBe('2026-01-10T23:00')
  expect(openUntil(windows, at('2026-01-11T00:30Z'))).toBeUndefined()
  expect(iso(nextOpening(windows, at('2026-01-11T00:30Z')))).toBe('2026-01-11T02:00')
})

test('none, or one of every hour, is always open', () => {
  expect(openUntil([], 0)).toBe(Infinity)
  expect(openUntil([parseWindow('daily 00:00-24:00 Europe/Prague')], at('2026-03-28T12:00Z'))).toBe(Infinity)
})

test.each(fixture.refused)('%s is refused', (typed, reason, words) => {
  expect(() => parseWindow(typed)).toThrow(expect.objectContaining({ reason, exitCode: 2 }))
  expect(() => parseWindow(typed)).toThrow(words)
})
