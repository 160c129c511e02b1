// 8 s: deaths are found by playing a window part by part, and behind each its part is played to the end; `KVUP_EVERY_DEATH=1` tries all.
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/engine/journal.ts'
import { keptBaseline } from '../../../src/lib/eus/baseline.ts'
import { stopAt } from '../interrupted.ts'
import { callsWithoutDeath, isEvery, shuffled } from '../killed.ts'
import { Killed, mortal } from '../mortal-cluster.ts'
import type { Stage } from '../stage.ts'
import { expectAborted, expectedOfAbort } from './after-abort.ts'
import { abort, type Command, lentFields, playLent, playLentAt, run } from './lending-window.ts'
import { chosen, type Deaths, deathsOf, die, named } from './window-deaths.ts'
import { platformOf } from './window-stage.ts'

const of = (entries: readonly Entry[], ...what: Entry['what'][]) =>
  entries.filter((entry) => what.includes(entry.what))

function expectIntentsEnded(entries: readonly Entry[]): void {
  const ended = new Set(of(entries, 'applied', 'failed').map(({ step }) => step))
  expect(of(entries, 'intends').filter(({ step }) => !ended.has(step))).toEqual([])
}

function withoutDeath({ calls, code, worlds }: Deaths): readonly number[] {
  expect(code).toBe(0)
  expect(calls).toBeGreaterThan(30)
  const all = worlds.flatMap((same) => same.deaths)
  return callsWithoutDeath(calls, all)
}

/** The target is reached, nothing is borrowed, nothing is left to do. */
async function expectEnd(stage: Stage, before: ReturnType<typeof lentFields>): Promise<void> {
  expect(platformOf(stage).status?.desired?.version).toBe('4.20.5')
  expect(lentFields(stage)).toEqual(before)
  expect(await stage.journal.overrides()).toEqual([])
  expect(await keptBaseline(stage.journal, 'eus to 4.20')).toBeUndefined()
  const entries = await stage.journal.entries()
  expectIntentsEnded(entries)
  // Given back, or closed because a hop was accepted.
  expect(of(entries, 'restored', 'closed')).toHaveLength(of(entries, 'saved').length)
  const mark = stage.mark
  expect(await run(stage)).toMatchObject({ code: 0 })
  expect(stage.writes(mark)).toEqual([])
}

/** Parts of a window, by the steps behind which they begin and end: each is killed in by itself, and what is played behind it is only the rest of it. */
const parts = [
  { from: undefined, to: 'accepted-4.19' },
  { from: 'accepted-4.19', to: 'operator-4.19' },
  { from: 'operator-4.19', to: 'operator-4.20' },
  { from: 'operator-4.20', to: undefined },
] as const

const playAfter = (from?: string) => (from === undefined ? playLent : playLentAt(from))
const goOn =
  (to?: string): Command =>
  (stage, terminal) =>
    run(stage, terminal, to === undefined ? {} : { until: to })

const leftBehind = async (stage: Stage) => ({
  fields: lentFields(stage),
  spec: platformOf(stage).spec,
  loans: (await stage.journal.overrides()).map(({ id }) => id),
})

/** What who is not killed leaves behind. */
async function unbroken(to: string): Promise<Awaited<ReturnType<typeof leftBehind>>> {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof leftBehind>>>()
  await playLentAt(to)(async (stage) => resolve(await leftBehind(stage)))
  return promise
}

const expected = await expectedOfAbort()
// All of it is loaded behind this; that it fails is for the tests to say.
await playLentAt('rolled-worker')(async (stage) => void (await run(stage))).catch(() => undefined)

describe.each(parts)(
  'SIGKILL before and after each API call of a window between $from and $to',
  async (part) => {
    const { from, to } = part
    const playIt = playAfter(from)
    const deaths = await deathsOf(playIt, goOn(to))
    const left = to && (await unbroken(to))

    test('every call is among the deaths, before it and after it', () =>
      expect(withoutDeath(deaths)).toEqual([]))

    test.each(named(chosen(deaths, 1)))(
      '%s: run elsewhere it goes on as if nobody had killed it',
      (_, same) =>
        playIt(async (stage, before) => {
          await die(stage, goOn(to), same)
          expect((await goOn(to)(stage, { host: 'other' })).error).toBeUndefined()
          if (left === undefined) return expectEnd(stage, before)
          expect(await leftBehind(stage)).toEqual(left)
          expectIntentsEnded(await stage.journal.entries())
        }),
    )

    const isDrawn = isEvery || shuffled(parts, (one) => `${one.from}`)[0] === part
    test.each(isDrawn ? named(chosen(deaths, 1, 'aborted')) : [])(
      '%s: aborted elsewhere, every borrowed field is as it was',
      (_, same) =>
        playIt(async (stage) => {
          await die(stage, goOn(to), same)
          const ended = await abort(stage, { host: 'other' })
          expect(ended.error).toBeUndefined()
          await expectAborted(stage, expected, ended)
        }),
    )
  },
)

/** Where an abort is killed: asked for, on its way, between hops, the second on its way, and at the end of the last one. */
const stops = [
  'channel-4.19',
  'request-4.19',
  'accepted-4.19',
  'operator-4.19',
  'accepted-4.20',
  'resume-workload-updates',
]

/** By default after one write of one abort, drawn by the seed. */
test.skipIf(isEvery)('SIGKILL in an abort: aborted again, every borrowed field is as it was', async () => {
  const [stop = ''] = shuffled(stops, (one) => one)
  const [most = 0] = shuffled([1, 2, 3, 4, 5], String)
  await playLentAt(stop)(async (stage) => {
    const mark = stage.mark
    const lasting = () => stage.writes(mark).filter(({ resource }) => resource !== 'leases')
    const cluster = mortal(stage.cluster, { afterCallWhen: () => lasting().length >= most })
    const killed = abort(stage, { cluster, host: 'dead' }).catch((error: unknown) => error)
    await cluster.death
    expect(await killed).toBeInstanceOf(Killed)
    await expectAborted(stage, expected, await abort(stage, { host: 'other' }))
  })
})

describe.each(isEvery ? stops : [])(
  'SIGKILL before and after each API call of an abort, after %s',
  async (stop) => {
    const playIt = playLentAt(stop)
    await deathsOf(playIt, abort)
    const deaths = await deathsOf(playIt, abort)

    test('every call is among the deaths, before it and after it', () =>
      expect(withoutDeath(deaths)).toEqual([]))

    test.each(named(chosen(deaths, 1)))('%s: aborted again, every borrowed field is as it was', (_, same) =>
      playIt(async (stage) => {
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
      'accepted-4.19',
      at('step-started', 'approve-4.19.8'),
    ],
    [
      'behind the last give-back: the next run means this window, not the next one',
      'rolled-worker',
      at('step-done', 'restore-approval'),
    ],
    [
      'behind what a VM got back: that it blocks drains again stands in the way of nothing that is left',
      'rolled-worker',
      at('step-done', 'restore/demo/db'),
    ],
  ])('%s', (_, from, terminal) =>
    playLentAt(from)(async (stage, before) => {
      expect(await run(stage, terminal)).toMatchObject({ code: 130 })
      const ended = await run(stage, { host: 'other' })
      expect(ended.error).toBeUndefined()
      await expectEnd(stage, before)
    }),
  )
})
