import { expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/engine/journal.ts'
import { journalTimes } from '../../../src/lib/upgrade/upgrade-duration.ts'
import fixture from './journal-times.json' with { type: 'json' }

type What = Entry['what']

/** Lines as `seconds what step`. */
const journal = (lines: readonly string[], procedure = 'upgrade to v1.9.0'): Entry[] =>
  lines.map((line) => {
    const [seconds, what, step = ''] = line.split(' ')
    const at = new Date(Date.parse('2026-11-01T00:00:00Z') + Number(seconds) * 1000).toISOString()
    return { at, by: 'jane@here', procedure, step, what: what as What, text: '' }
  })

const whole = fixture.whole

test('a run that was finished tells how long it took, and what lay between its changes', () => {
  expect(journalTimes(journal(whole))).toEqual(fixture.wholeTimes)
})

test('repetitions of a step count as one change', () => {
  const cancelled = fixture.cancelled
  expect(journalTimes(journal(cancelled)).spans).toEqual([
    { after: 'migrations-in-flight', before: 'set-image-tag', ms: 11_000 },
    { after: 'set-image-tag', ms: 78_000 },
  ])
})

test.each(fixture.untold as unknown as [string, string[]][])(
  'a run that was %s tells nothing',
  (_, lines) => {
    expect(journalTimes(journal(lines))).toEqual({ whole: [], spans: [] })
  },
)

test('other procedures are no upgrades, also where they write in between', () => {
  const other = journal(
    ['0 started', '1 intends set-image-tag', '2 applied set-image-tag', '3 finished'],
    'restore-settings',
  )
  expect(journalTimes([...other, ...journal(whole), ...other]).whole).toEqual([360_000])
})
