import { expect, test } from 'vitest'
import { minute, play } from '../stage.ts'
import { eusRunOn, platformOf, small418 } from './window-stage.ts'

test.each(['operator-4.19', 'request-4.19', 'csv-succeeded-4.19.5', 'operands-rolled-4.19.8'])(
  '--until %s, typed again: it is done, and nothing is written',
  (until) =>
    play(small418, async (stage) => {
      expect(await eusRunOn(stage, { until: 'operator-4.19' })).toMatchObject({ code: 0 })
      await stage.until(10 * minute)
      const mark = stage.mark
      const again = await eusRunOn(stage, { until }, { host: 'other' })
      expect(again).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-do' }] })
      expect(again.text).toContain(`${until} is done already`)
      expect(stage.writes(mark)).toEqual([])
      expect(platformOf(stage).status?.desired?.version).toBe('4.19.14')
    }),
)

test('a step before the end is behind when only the way back out is left', () =>
  play(small418, async (stage) => {
    expect(await eusRunOn(stage, { until: 'operator-4.20' })).toMatchObject({ code: 0 })
    const mark = stage.mark
    for (const until of ['pause-worker', 'operator-4.19', 'request-4.20', 'operator-4.20'])
      expect(await eusRunOn(stage, { until })).toMatchObject({ code: 0 })
    expect(stage.writes(mark)).toEqual([])
    expect(await eusRunOn(stage, { pauseBefore: ['pause-worker'] })).toMatchObject({ code: 0 })
    expect(await stage.journal.overrides()).toEqual([])
  }))

test.each(['operator-4.99', 'request-4.18', 'gate-4.19.99', 'pause-wroker', 'operator'])(
  '--until %s is no step of any window: exit 2',
  (until) =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'operator-4.19' })
      const mark = stage.mark
      expect(await eusRunOn(stage, { until })).toMatchObject({ code: 2, error: { reason: 'no-such-step' } })
      expect(stage.writes(mark).filter(({ resource }) => resource !== 'leases')).toEqual([])
    }),
)
