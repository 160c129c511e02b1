import { describe, expect, test } from 'vitest'
import { type Command, deathsOf, drawn, kill, testCalls } from './killed.ts'
import type { Death } from './mortal-cluster.ts'
import { owners, storedMethods, storedOwner } from './settings-owners.ts'
import { isWrittenByKvup } from '../../src/lib/kube/last-writer.ts'
import { play, type Stage } from './stage.ts'

const first = '["Evict","LiveMigrate"]'
const hold: Command = (stage, terminal) => stage.hold({}, terminal)
const restore: Command = (stage, terminal) => stage.restore({}, terminal)

async function expectAsItWas(stage: Stage): Promise<void> {
  expect(storedMethods(stage)).toBe(first)
  expect(stage.methods).toEqual(JSON.parse(first))
  expect(await stage.journal.overrides()).toEqual([])
  const entries = (await stage.journal.entries()).map(({ what }) => what)
  const count = (word: string) => entries.filter((what) => what === word).length
  // The last write of a restore takes the note off its object: killed right behind it, the history has the intent of it.
  const intends = entries.lastIndexOf('intends')
  const isCutOff = count('restored') === 0 && intends > entries.lastIndexOf('applied')
  expect([count('saved'), isCutOff ? 1 : count('restored')]).toEqual([1, 1])
  expect(JSON.stringify(storedOwner(stage).metadata)).not.toContain('kvup.io/saved-')
  expect(isWrittenByKvup(storedOwner(stage), methodsAt(stage))).toBe(false)
}

/** Where the stored version has the methods: the field belongs to whoever had it (incident 31). */
const methodsAt = (stage: Stage): string =>
  `/spec/${'virtualization' in storedOwner(stage).spec ? 'virtualization/' : ''}workloadUpdateStrategy/workloadUpdateMethods`

/** What is stored in v1beta1 alone is written as where v1 is served beside it. */
const hardest = owners.filter(({ name }) => !name.endsWith('alone'))

describe.each(hardest)('contract: SIGKILL at each API call, $name', async ({ shape }) => {
  const holding = await deathsOf((act) => play(shape, act), hold)
  const restoring = await deathsOf(
    (act) =>
      play(shape, async (stage) => {
        await stage.hold()
        await act(stage)
      }),
    restore,
  )
  testCalls(holding, restoring)

  const halves = [0, 1].map((half) => drawn(holding).filter((_, at) => at % 2 === half))

  test.each(halves[0]!)('hold killed at %s, restored elsewhere: byte for byte as it was', (_, [death]) =>
    play(shape, async (stage) => {
      await kill(stage, hold, death as Death)
      expect(storedMethods(stage) === first || (await stage.journal.overrides()).length === 1).toBe(true)
      expect(await stage.restore({}, { host: 'other' })).toMatchObject({ code: 0 })
      expect(storedMethods(stage)).toBe(first)
      expect(await stage.journal.overrides()).toEqual([])
    }),
  )

  test.each(halves[1]!)('hold killed at %s, held again and restored: byte for byte as it was', (_, [death]) =>
    play(shape, async (stage) => {
      await kill(stage, hold, death as Death)
      expect(await stage.hold({}, { host: 'other' })).toMatchObject({ code: 0 })
      expect(storedMethods(stage)).toBe('[]')
      const was = { value: JSON.parse(first) as string[] }
      expect(await stage.journal.overrides()).toMatchObject([{ was }])
      expect(await stage.restore({}, { host: 'third' })).toMatchObject({ code: 0 })
      await expectAsItWas(stage)
    }),
  )

  test.each(drawn(restoring))('restore killed at %s and run again: byte for byte as it was', (_, [death]) =>
    play(shape, async (stage) => {
      await stage.hold()
      await kill(stage, restore, death as Death)
      expect(await stage.restore({}, { host: 'other' })).toMatchObject({ code: 0 })
      await expectAsItWas(stage)
    }),
  )
})
