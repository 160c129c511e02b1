import { describe, expect, test } from 'vitest'
import { expectAborted, expectedOf } from './after-abort.ts'
import { abort, playLent, run } from './lending-window.ts'
import { chosen, deathsOf, die, named } from './window-deaths.ts'

describe('SIGKILL before and after each API call of a window, aborted elsewhere', async () => {
  const deaths = await deathsOf(run)

  test.each(named(chosen(deaths, 18)))('%s: every borrowed field is as it was', (_, same) =>
    playLent(async (stage, before) => {
      const expected = expectedOf(stage, before)
      await die(stage, run, same)
      const ended = await abort(stage, { host: 'other' })
      expect(ended.error).toBeUndefined()
      await expectAborted(stage, expected, ended)
    }),
  )
})
