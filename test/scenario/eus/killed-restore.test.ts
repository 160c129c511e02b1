// 5 s: each death is another window; `KVUP_EVERY_DEATH=1` tries all.
import { describe, expect, test } from 'vitest'
import { isEvery, shuffled } from '../killed.ts'
import { Killed, mortal } from '../mortal-cluster.ts'
import { play, type Stage } from '../stage.ts'
import { borrowedFields, restoreOn, eusRunOn, small418 } from './window-stage.ts'

/** Renewals of the lock change nothing that a resumed run can find. */
const lasting = (stage: Stage, since: number) =>
  stage.writes(since).filter(({ resource }) => resource !== 'leases').length

const began = (stage: Stage) => stage.journal.kept('eus to 4.20/began')

/** Between the hops, with all that a window borrows. */
async function betweenHops(stage: Stage): Promise<unknown> {
  const before = borrowedFields(stage)
  await eusRunOn(stage, { until: 'operator-4.19' })
  return before
}

async function writesOfRestore(): Promise<number> {
  let writes = 0
  await play(small418, async (stage) => {
    await betweenHops(stage)
    const mark = stage.mark
    expect(await restoreOn(stage, { pools: true })).toMatchObject({ code: 0 })
    writes = lasting(stage, mark)
  })
  return writes
}

const writes = await writesOfRestore()
const all = Array.from({ length: writes }, (_, at) => at + 1)
const sample = isEvery ? all : shuffled(all, String).slice(0, 3)

describe('SIGKILL after a write of restore --pools', () => {
  test.each(sample)('the %s. one: run elsewhere it gives all back, and closes the window', (n) =>
    play(small418, async (stage) => {
      const before = await betweenHops(stage)
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
