// 20 s: deaths are found by playing whole windows, and each is another one; `KVUP_EVERY_DEATH=1` tries all.
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/engine/journal.ts'
import { keptBaseline } from '../../../src/lib/eus/baseline.ts'
import { stopAt } from '../interrupted.ts'
import { callsWithoutDeath, isEvery, shuffled } from '../killed.ts'
import { Killed, mortal } from '../mortal-cluster.ts'
import type { Stage } from '../stage.ts'
import { expectAborted, expectedOf } from './after-abort.ts'
import { abort, lentFields, playLent, run } from './lending-window.ts'
import { chosen, type Deaths, deathsOf, die, named } from './window-deaths.ts'
import { platformOf } from './window-stage.ts'

/** Every intent has its end, every loan was given back, or closed because a hop was accepted. */
function expectWhole(entries: readonly Entry[]): void {
  const of = (...what: Entry['what'][]) => entries.filter((entry) => what.includes(entry.what))
  const ended = new Set(of('applied', 'failed').map(({ step }) => step))
  expect(of('intends').filter(({ step }) => !ended.has(step))).toEqual([])
  expect(of('restored', 'closed')).toHaveLength(of('saved').length)
}

function withoutDeath({ calls, worlds }: Deaths): readonly number[] {
  expect(calls).toBeGreaterThan(100)
  const all = worlds.flatMap((same) => same.deaths)
  return callsWithoutDeath(calls, all)
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

  test.each(named(chosen(deaths, 2)))('%s: run elsewhere it is over', (_, same) =>
    playLent(async (stage, before) => {
      await toItsEnd(stage)
      await die(stage, run, same)
      expect((await run(stage, { host: 'other' })).error).toBeUndefined()
      await expectEnd(stage, before)
    }),
  )
})

/** Where an abort is killed: asked for, on its way, between hops, the second on its way, and at the end of the last one. */
const stops = [
  'channel-4.19',
  'request-4.19',
  'accepted-4.19',
  'operator-4.19',
  'accepted-4.20',
  'resume-workload-updates',
]

describe('SIGKILL before and after each API call of a window', async () => {
  const deaths = await deathsOf(run)

  test('every call is among the deaths, before it and after it', () =>
    expect(withoutDeath(deaths)).toEqual([]))

  test.each(named(chosen(deaths, 3)))('%s: run elsewhere it reaches the target', (_, same) =>
    playLent(async (stage, before) => {
      await die(stage, run, same)
      expect((await run(stage, { host: 'other' })).error).toBeUndefined()
      await expectEnd(stage, before)
    }),
  )

  test.each(named(chosen(deaths, 1, 'aborted')))(
    '%s: aborted elsewhere, every borrowed field is as it was',
    (_, same) =>
      playLent(async (stage, before) => {
        const expected = expectedOf(stage, before)
        await die(stage, run, same)
        const ended = await abort(stage, { host: 'other' })
        expect(ended.error).toBeUndefined()
        await expectAborted(stage, expected, ended)
      }),
  )
})

/** By default after one write of one abort, drawn by the seed. */
test.skipIf(isEvery)('SIGKILL in an abort: aborted again, every borrowed field is as it was', () =>
  playLent(async (stage, before) => {
    const expected = expectedOf(stage, before)
    const [until = ''] = shuffled(stops, (stop) => stop)
    const [most = 0] = shuffled([1, 2, 3, 4, 5], String)
    expect(await run(stage, {}, { until })).toMatchObject({ code: 0 })
    const mark = stage.mark
    const lasting = () => stage.writes(mark).filter(({ resource }) => resource !== 'leases')
    const cluster = mortal(stage.cluster, { afterCallWhen: () => lasting().length >= most })
    const killed = abort(stage, { cluster, host: 'dead' }).catch((error: unknown) => error)
    await cluster.death
    expect(await killed).toBeInstanceOf(Killed)
    await expectAborted(stage, expected, await abort(stage, { host: 'other' }))
  }),
)

describe.each(isEvery ? stops : [])(
  'SIGKILL before and after each API call of an abort, after %s',
  async (until) => {
    const begin = async (stage: Stage) => expect(await run(stage, {}, { until })).toMatchObject({ code: 0 })
    const deaths = await deathsOf(abort, begin)

    test('every call is among the deaths, before it and after it', () =>
      expect(withoutDeath(deaths)).toEqual([]))

    test.each(named(chosen(deaths, 1)))('%s: aborted again, every borrowed field is as it was', (_, same) =>
      playLent(async (stage, before) => {
        const expected = expectedOf(stage, before)
        await begin(stage)
        await die(stage, abort, same)
        const ended = await abort(stage, { host: 'other' })
        expect(ended.error).toBeUndefined()
        await expectAborted(stage, expected, ended)
      }),
    )
  },
)

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
    [
      'behind what a VM got back: that it blocks drains again stands in the way of nothing that is left',
      at('step-done', 'restore/demo/db'),
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
