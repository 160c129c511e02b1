import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/engine/journal.ts'
import { keptBaseline } from '../../../src/lib/eus/baseline.ts'
import { stopAt } from '../interrupted.ts'
import { callsWithoutDeath } from '../killed.ts'
import type { Stage } from '../stage.ts'
import { lentFields, playLent, run } from './lending-window.ts'
import { chosen, deathsOf, die, named } from './window-deaths.ts'
import { platformOf } from './window-stage.ts'

/** Every intent has its end, every loan was given back, or closed because a hop was accepted. */
function expectWhole(entries: readonly Entry[]): void {
  const of = (...what: Entry['what'][]) => entries.filter((entry) => what.includes(entry.what))
  const ended = new Set(of('applied', 'failed').map(({ step }) => step))
  expect(of('intends').filter(({ step }) => !ended.has(step))).toEqual([])
  expect(of('restored', 'closed')).toHaveLength(of('saved').length)
}

/** The target is reached, nothing is borrowed, nothing is left to do. */
async function expectEnd(stage: Stage, before: ReturnType<typeof lentFields>): Promise<void> {
  expect(platformOf(stage).status?.desired?.version).toBe('4.20.5')
  expect(lentFields(stage)).toEqual(before)
  expect(await stage.journal.overrides()).toEqual([])
  expect(await keptBaseline(stage.journal, 'eus to 4.20')).toBeUndefined()
  expectWhole(await stage.journal.entries())
  const mark = stage.mark
  expect(await run(stage)).toMatchObject({ code: 0 })
  expect(stage.writes(mark)).toEqual([])
}

const toItsEnd = async (stage: Stage) =>
  expect(await run(stage, {}, { until: 'rolled-worker' })).toMatchObject({ code: 0 })

describe('SIGKILL before and after each API call of the end of a window, where VMs get back what they were lent', async () => {
  const deaths = await deathsOf(run, toItsEnd)

  test.each(named(chosen(deaths, 8)))('%s: run elsewhere it is over', (_, same) =>
    playLent(async (stage, before) => {
      await toItsEnd(stage)
      await die(stage, run, same)
      expect((await run(stage, { host: 'other' })).error).toBeUndefined()
      await expectEnd(stage, before)
    }),
  )
})

describe('SIGKILL before and after each API call of a window', async () => {
  const deaths = await deathsOf(run)

  test('every call is among the deaths, before it and after it', () => {
    expect(deaths.calls).toBeGreaterThan(100)
    expect(
      callsWithoutDeath(
        deaths.calls,
        deaths.worlds.flatMap((same) => same.deaths),
      ),
    ).toEqual([])
  })

  test.each(named(chosen(deaths, 18)))('%s: run elsewhere it reaches the target', (_, same) =>
    playLent(async (stage, before) => {
      await die(stage, run, same)
      const ended = await run(stage, { host: 'other' })
      expect(ended.error).toBeUndefined()
      await expectEnd(stage, before)
    }),
  )
})

const at = (kind: 'step-started' | 'step-done', id: string) =>
  stopAt('SIGINT', (event) => event.kind === kind && event.step.id === id)

/** What playing every death has found. */
describe('cut off', () => {
  test.each([
    [
      'before the second release of a minor is approved: its InstallPlan blocks those of the next minor',
      at('step-started', 'approve-4.19.8'),
    ],
    [
      'behind the last give-back: the next run means this window, not the next one',
      at('step-done', 'restore-approval'),
    ],
  ])('%s', (_, terminal) =>
    playLent(async (stage, before) => {
      expect(await run(stage, terminal)).toMatchObject({ code: 130 })
      const ended = await run(stage, { host: 'other' })
      expect(ended.error).toBeUndefined()
      await expectEnd(stage, before)
    }),
  )
})
