import { describe, expect, test } from 'vitest'
import { callsWithoutDeath } from '../killed.ts'
import type { Stage } from '../stage.ts'
import { expectAborted, expectedOf } from './after-abort.ts'
import { abort, playLent, run } from './lending-window.ts'
import { chosen, deathsOf, die, named } from './window-deaths.ts'

/** Not accepted, asked for, on its way, between hops, the second on its way, and at the end of the last one. */
const stops = [
  'channel-4.19',
  'request-4.19',
  'accepted-4.19',
  'operator-4.19',
  'accepted-4.20',
  'resume-workload-updates',
]

describe.each(stops)('SIGKILL before and after each API call of an abort, after %s', async (until) => {
  const begin = async (stage: Stage) => expect(await run(stage, {}, { until })).toMatchObject({ code: 0 })
  const deaths = await deathsOf(abort, begin)

  test('every call is among the deaths, before it and after it', () => {
    expect(deaths.calls).toBeGreaterThan(100)
    expect(
      callsWithoutDeath(
        deaths.calls,
        deaths.worlds.flatMap((same) => same.deaths),
      ),
    ).toEqual([])
  })

  test.each(named(chosen(deaths, 3)))('%s: aborted again, every borrowed field is as it was', (_, same) =>
    playLent(async (stage, before) => {
      const expected = expectedOf(stage, before)
      await begin(stage)
      await die(stage, abort, same)
      const ended = await abort(stage, { host: 'other' })
      expect(ended.error).toBeUndefined()
      await expectAborted(stage, expected, ended)
    }),
  )
})
