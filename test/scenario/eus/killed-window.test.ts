import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/procedure/journal.ts'
import { Killed, mortal } from '../mortal-cluster.ts'
import { play, type Stage } from '../stage.ts'
import { borrowedFields, eusAbortOn, eusRunOn, platformOf, small418 } from './window-stage.ts'

/** Renewals of the lock change nothing that a resumed run can find. */
const lasting = (stage: Stage) => stage.writes().filter(({ resource }) => resource !== 'leases').length

/** How many lasting writes the window takes when nobody kills it. */
async function writesOfWindow(): Promise<number> {
  let writes = 0
  await play(small418, async (stage) => {
    expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
    writes = lasting(stage)
  })
  return writes
}

/** Dies right after its n-th lasting write, before it hears of it. */
async function killAfter(stage: Stage, n: number): Promise<void> {
  const cluster = mortal(stage.cluster, { afterCallWhen: () => lasting(stage) >= n })
  const killed = eusRunOn(stage, {}, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  const end = await killed
  expect(end instanceof Killed || (end as { code: number }).code === 0).toBe(true)
}

async function expectNothingBorrowed(stage: Stage, before: unknown): Promise<void> {
  expect(borrowedFields(stage)).toEqual(before)
  expect(await stage.journal.loans()).toEqual([])
}

/** Every intent has its end, every loan was given back, or closed because a hop was accepted. */
function expectWhole(entries: readonly Entry[]): void {
  const of = (...what: Entry['what'][]) => entries.filter((entry) => what.includes(entry.what))
  const ended = new Set(of('applied', 'failed').map(({ step }) => step))
  expect(of('intends').filter(({ step }) => !ended.has(step))).toEqual([])
  expect(of('gave-back', 'closed')).toHaveLength(of('borrowed').length)
}

const writes = await writesOfWindow()
/** Every one would take minutes: a sample, denser where things are borrowed. `KVUP_EVERY_DEATH=1` tries all. */
const isAll = process.env['KVUP_EVERY_DEATH'] === '1'
const sample = Array.from({ length: writes }, (_, at) => at + 1).filter(
  (n) => isAll || (n <= 14 && n % 2 === 0) || n % 12 === 0,
)

describe('SIGKILL after a write of a window', () => {
  test.each(sample)('the %s. one: run elsewhere it reaches the target, and all is given back', (n) =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      await killAfter(stage, n)
      const ended = await eusRunOn(stage, {}, { host: 'other' })
      expect(ended.error).toBeUndefined()
      expect(platformOf(stage).status?.desired?.version).toBe('4.20.5')
      await expectNothingBorrowed(stage, before)
      expectWhole(await stage.journal.entries())
    }),
  )

  test.each(sample.filter((n) => isAll || n % 4 === 0))(
    'the %s. one: aborted elsewhere, every borrowed field is as it was',
    (n) =>
      play(small418, async (stage) => {
        const before = borrowedFields(stage)
        await killAfter(stage, n)
        const ended = await eusAbortOn(stage, {}, { host: 'other' })
        expect(ended.error).toBeUndefined()
        await expectNothingBorrowed(stage, before)
      }),
  )
})
