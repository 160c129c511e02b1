import { expect, test } from 'vitest'
import { minute, play, type Stage } from '../stage.ts'
import { eusAbortOn, eusRunOn, platformOf, small418, playAt } from './window-stage.ts'
import type { EusRunOptions } from '../../../src/lib/eus/run/window-run.ts'

async function expectNoStep(stage: Stage, limits: Partial<EusRunOptions>): Promise<readonly string[]> {
  const mark = stage.mark
  const { code, error } = await eusRunOn(stage, limits)
  expect([limits, code, error?.reason]).toEqual([limits, 2, 'no-such-step'])
  expect(stage.writes(mark).filter(({ resource }) => resource !== 'leases')).toEqual([])
  return error?.remedy ?? []
}

test('--until, typed again: it is done, and nothing is written; what is no step of any window is exit 2', () =>
  play(small418, async (stage) => {
    for (const until of ['unpause-gpu', 'channel-4.91']) await expectNoStep(stage, { until })
    await expectNoStep(stage, { pauseBefore: ['request-4.91'] })
    const guessed = await expectNoStep(stage, { until: 'unpause-wroker' })
    expect(guessed[0]).toBe('did you mean unpause-worker?')
    expect(guessed.at(-1)).toContain('--dry-run=client -o name')
    expect(await eusRunOn(stage, { until: 'operator-4.19' })).toMatchObject({ code: 0 })
    await stage.until(10 * minute)
    const mark = stage.mark
    for (const until of ['operator-4.19', 'request-4.19', 'csv-succeeded-4.19.5', 'operands-rolled-4.19.8']) {
      const again = await eusRunOn(stage, { until }, { host: 'other' })
      expect(again).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-do' }] })
      expect(again.text).toContain(`${until} is done already`)
    }
    expect(stage.writes(mark)).toEqual([])
    expect(platformOf(stage).status?.desired?.version).toBe('4.19.14')
    for (const until of ['operator-4.99', 'request-4.18', 'gate-4.19.99', 'pause-wroker', 'operator']) {
      await expectNoStep(stage, { until })
      for (const command of [eusRunOn, eusAbortOn])
        expect(await command(stage, { dryRun: 'client', until })).toMatchObject({
          code: 2,
          error: { reason: 'no-such-step' },
        })
    }
  }))

test('a step before the end is behind when only the way back out is left', () =>
  playAt('operator-4.20')(async (stage) => {
    const mark = stage.mark
    for (const until of ['pause-worker', 'operator-4.19', 'request-4.20', 'operator-4.20'])
      expect(await eusRunOn(stage, { until })).toMatchObject({ code: 0 })
    expect(stage.writes(mark)).toEqual([])
    expect(await eusRunOn(stage, { pauseBefore: ['pause-worker'] })).toMatchObject({ code: 0 })
    expect(await stage.journal.overrides()).toEqual([])
  }))
