// `KVUP_EVERY_DEATH=1` tries all.
import { describe, expect, test } from 'vitest'
import { isEvery, shuffled } from '../killed.ts'
import { Killed, mortal } from '../mortal-cluster.ts'
import type { Stage } from '../stage.ts'
import { borrowedFields, playAt, restoreOn } from './window-stage.ts'

/** Renewals of the lock change nothing that a resumed run can find. */
const lasting = (stage: Stage, since: number) =>
  stage.writes(since).filter(({ resource }) => resource !== 'leases').length

const began = (stage: Stage) => stage.journal.kept('eus to 4.20/began')

/** Between the hops, with all that a window borrows. */
const playBetween = playAt('operator-4.19')

async function writesOfRestore(): Promise<number> {
  let writes = 0
  await playBetween(async (stage) => {
    expect(await restoreOn(stage, { pools: true })).toMatchObject({ code: 0 })
    writes = lasting(stage, 0)
  })
  return writes
}

const writes = await writesOfRestore()
const all = Array.from({ length: writes }, (_, at) => at + 1)
const sample = isEvery ? all : shuffled(all, String).slice(0, 3)

describe('SIGKILL after a write of restore --pools', () => {
  test.each(sample)('the %s. one: run elsewhere it gives all back, and closes the window', (n) =>
    playBetween(async (stage, before) => {
      const mark = stage.mark
      const cluster = mortal(stage.cluster, { afterCallWhen: () => lasting(stage, mark) >= n })
      const killed = restoreOn(stage, { pools: true }, { cluster, host: 'dead' }).catch(
        (error: unknown) => error,
      )
      await cluster.death
      expect(await killed).toBeInstanceOf(Killed)
      const ended = await restoreOn(stage, { pools: true }, { host: 'other' })
      expect(ended.error).toBeUndefined()
      expect(borrowedFields(stage)).toEqual(before)
      expect(await stage.journal.overrides()).toEqual([])
      expect(await began(stage)).toBeUndefined()
    }),
  )
})
