import { expect, test } from 'vitest'
import { nextOpening, openUntil, parseWindow } from '../../../../src/lib/vms/waves/pacing.ts'

const at = (text: string) => Date.parse(text)
const iso = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16)

/** When the window is open around a time: opening and end in UTC. */
function around(typed: string, time: string): readonly (string | undefined)[] {
  const windows = [parseWindow(typed)]
  const opens = nextOpening(windows, at(time))
  return [iso(opens), opens === undefined ? undefined : iso(openUntil(windows, opens))]
}

test.each([
  // Winter time, UTC+1; 2026-01-10 is a Saturday.
  ['Sat 22:00-04:00 Europe/Prague', '2026-01-08T12:00Z', ['2026-01-10T21:00', '2026-01-11T03:00']],
  ['Sat 22:00-04:00 Europe/Prague', '2026-01-10T21:00Z', ['2026-01-10T21:00', '2026-01-11T03:00']],
  ['Sat 22:00-04:00 Europe/Prague', '2026-01-11T03:00Z', ['2026-01-17T21:00', '2026-01-18T03:00']],
  // The clocks are set forward at 2026-03-29T01:00Z: an hour shorter.
  ['Sat 22:00-04:00 Europe/Prague', '2026-03-28T12:00Z', ['2026-03-28T21:00', '2026-03-29T02:00']],
  // It begins in the hour that is skipped: when the clocks are set forward.
  ['Sun 02:30-05:00 Europe/Prague', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-29T03:00']],
  // It lies in that hour altogether: a week later.
  ['Sun 02:15-02:45 Europe/Prague', '2026-03-28T12:00Z', ['2026-04-05T00:15', '2026-04-05T00:45']],
  // The clocks are set back at 2026-10-25T01:00Z: an hour longer.
  ['Sat 22:00-04:00 Europe/Prague', '2026-10-24T12:00Z', ['2026-10-24T20:00', '2026-10-25T03:00']],
  // 02:30 is there twice: it begins with the first, and ends with the first.
  ['Sun 02:30-05:00 Europe/Prague', '2026-10-24T12:00Z', ['2026-10-25T00:30', '2026-10-25T04:00']],
  ['Sun 01:00-02:30 Europe/Prague', '2026-10-24T12:00Z', ['2026-10-24T23:00', '2026-10-25T00:30']],
  // Half an hour, on the other half of the world.
  ['Sun 01:00-03:00 Australia/Lord_Howe', '2026-10-03T00:00Z', ['2026-10-03T14:30', '2026-10-03T16:00']],
  // Over midnight, and over both changes of the clocks on it.
  ['Sat 23:30-02:30 America/New_York', '2026-03-07T12:00Z', ['2026-03-08T04:30', '2026-03-08T07:00']],
  ['Sat 23:30-01:30 America/New_York', '2026-10-31T12:00Z', ['2026-11-01T03:30', '2026-11-01T05:30']],
  ['Sun 23:00-01:00 UTC', '2026-01-12T00:30Z', ['2026-01-12T00:30', '2026-01-12T01:00']],
  ['Fri-Mon 08:00-09:00 UTC', '2026-01-13T00:00Z', ['2026-01-16T08:00', '2026-01-16T09:00']],
  ['tue,thu 08:00-24:00 UTC', '2026-01-14T00:00Z', ['2026-01-15T08:00', '2026-01-16T00:00']],
])('%s, from %s', (typed, from, expected) => {
  expect(around(typed, from)).toEqual(expected)
})

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

test.each([
  ['Sat 22:00-22:00 UTC', 'window-never-opens', 'starts when it ends'],
  ['Sat 24:00-04:00 UTC', 'not-a-window', 'after the end of the day'],
  ['Sat 22:00-25:00 UTC', 'not-a-window', '25:00 is no time of day'],
  ['Sat 22:60-23:00 UTC', 'not-a-window', '22:60'],
  ['Sat 22:00-04:00', 'not-a-window', 'time zone'],
  ['Sat 22:00-04:00 Europe/Prag', 'not-a-window', '"Europe/Prag" is not a known time zone'],
  ['Caturday 22:00-04:00 UTC', 'not-a-window', '"Caturday" is no day'],
  ['Mon-Tue-Wed 22:00-04:00 UTC', 'not-a-window', '"Mon-Tue-Wed"'],
  ['always', 'not-a-window', 'days, times'],
])('%s is refused', (typed, reason, words) => {
  expect(() => parseWindow(typed)).toThrow(expect.objectContaining({ reason, exitCode: 2 }))
  expect(() => parseWindow(typed)).toThrow(words)
})
