import { describe, expect, test } from 'vitest'
import { type Pacing, parseWindow } from '../../../../src/lib/vms/waves/pacing.ts'
import {
  closuresAfter,
  shownWindow,
  spreadOver,
  waveTimes,
  windowLines,
} from '../../../../src/lib/vms/waves/window-schedule.ts'
import { aCandidate } from './a-candidate.ts'

const minute = 60_000
const hour = 60 * minute
const at = (text: string) => Date.parse(text)
const iso = (ms = 0) => new Date(ms).toISOString().slice(0, 16)
/** 2026-01-10 is a Saturday. */
const nightly = [parseWindow('daily 22:00-24:00 UTC')]
const saturday = [parseWindow('Sat 22:00-04:00 UTC')]
const pacing = (windows: Pacing['windows'], more: Partial<Pacing> = {}): Pacing => ({
  parallel: 1,
  perNode: 1,
  pause: 0,
  soak: 0,
  windows,
  ...more,
})
/** Each takes half a minute, one at a time. */
const wave = (id: string, count: number) => ({
  id,
  vms: Array.from({ length: count }, (_, i) => aCandidate(`demo/${id}-${i}`)),
})

describe('closed windows are known beforehand', () => {
  test.each<[string, Parameters<typeof closuresAfter>, readonly (readonly [string | undefined, string])[]]>([
    ['none typed: never', [[], at('2026-01-10T12:00Z')], []],
    [
      'closed now, then day by day',
      [nightly, at('2026-01-10T12:00Z')],
      [
        [undefined, '2026-01-10T22:00'],
        ['2026-01-11T00:00', '2026-01-11T22:00'],
      ],
    ],
    ['open now', [saturday, at('2026-01-10T23:00Z')], [['2026-01-11T04:00', '2026-01-17T22:00']]],
    ['the whole day: never', [[parseWindow('daily 00:00-24:00 UTC')], at('2026-01-10T12:00Z')], []],
  ])('%s', (_, [windows, now], first) => {
    const found = closuresAfter(windows, now).map(({ from, until }) => [
      from?.slice(0, 16),
      until.slice(0, 16),
    ])
    expect(found.slice(0, Math.max(1, first.length))).toEqual(first)
  })
})

describe('work is spread over windows', () => {
  test.each<[string, [windows: Pacing['windows'], from: string, work: number], object | undefined]>([
    [
      'it waits until one opens',
      [saturday, '2026-01-10T12:00Z', hour],
      { begins: '2026-01-10T22:00', ends: '2026-01-10T23:00', windows: 1 },
    ],
    [
      'it begins in what is left of one',
      [saturday, '2026-01-11T03:00Z', hour],
      { begins: '2026-01-11T03:00', ends: '2026-01-11T04:00', windows: 1 },
    ],
    [
      'it does not fit into what is left',
      [saturday, '2026-01-11T03:00Z', 2 * hour],
      { begins: '2026-01-11T03:00', ends: '2026-01-17T23:00', windows: 2 },
    ],
    [
      'no window is long enough',
      [nightly, '2026-01-10T12:00Z', 5 * hour],
      { begins: '2026-01-10T22:00', ends: '2026-01-12T23:00', windows: 3 },
    ],
    [
      'without windows at once',
      [[], '2026-01-10T12:00Z', hour],
      { begins: '2026-01-10T12:00', ends: '2026-01-10T13:00', windows: 1 },
    ],
  ])('%s', (_, [windows, from, work], expected) => {
    const found = spreadOver(windows, at(from), work)
    expect(found && { begins: iso(found.begins), ends: iso(found.ends), windows: found.windows }).toEqual(
      expected,
    )
  })

  test('wave after wave, with the pause between them', () => {
    const found = waveTimes(
      [wave('canary', 2), wave('db', 0), wave('all', 300)],
      pacing(nightly, { pause: 10 * minute }),
      at('2026-01-10T12:00Z'),
    )
    expect(
      found.map(({ id, begins, ends, windows }) => [id, begins.slice(0, 16), ends.slice(0, 16), windows]),
    ).toEqual([
      ['canary', '2026-01-10T22:00', '2026-01-10T22:01', 1],
      ['all', '2026-01-10T22:11', '2026-01-11T22:41', 2],
    ])
  })
})

describe('it is said before the question', () => {
  const now = at('2026-01-10T12:00Z')
  const said = (count: number, timeout: number) =>
    windowLines(shownWindow(nightly, now), waveTimes([wave('all', count)], pacing(nightly), now), {
      now,
      ends: now + timeout,
    })

  test('when it opens, and when each turn comes', () => {
    expect(said(20, 48 * hour)).toEqual([
      'VMs start only in "daily 22:00-24:00 UTC": opens at 2026-01-10T22:00:00Z, in 10 h, closes at 2026-01-11T00:00:00Z',
      'all: about 10 m, starts at 2026-01-10T22:00:00Z, done by about 2026-01-10T22:10:00Z',
    ])
  })

  test('that it is too short for a wave, and that the time of the run is over before', () => {
    expect(said(300, 24 * hour).slice(1)).toEqual([
      'all: about 2 h 30 m, starts at 2026-01-10T22:00:00Z, done by about 2026-01-11T22:30:00Z; its time window is too short for it, 2 h of 2 h 30 m: the rest waits for the next ones, 2 windows in all',
      'all does not finish before the timeout (--timeout), at 2026-01-11T12:00:00Z',
    ])
  })

  test('nothing without windows', () => {
    expect(
      windowLines(shownWindow([], now), waveTimes([wave('all', 3)], pacing([]), now), { now, ends: now }),
    ).toEqual([])
  })
})
