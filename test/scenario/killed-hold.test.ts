import { describe, expect, test } from 'vitest'
import { type Death, immortal, Killed, mortal } from './mortal-cluster.ts'
import { owners, storedMethods, storedOwner } from './settings-owners.ts'
import { isWrittenByKvup } from '../../src/lib/kube/last-writer.ts'
import { play, type Stage, type Terminal } from './stage.ts'

type World = string
type Command = (stage: Stage, terminal: Terminal) => Promise<{ code: number }>

const first = '["Evict","LiveMigrate"]'
const hold: Command = (stage, terminal) => stage.hold({}, terminal)
const restore: Command = (stage, terminal) => stage.restore({}, terminal)

/** Every death of the command, before and after each of its calls; those that leave the same world behind are together. */
async function deathsOf(
  shape: (typeof owners)[number]['shape'],
  command: Command,
  before: (stage: Stage) => Promise<unknown>,
): Promise<{ calls: number; worlds: Map<World, Death[]> }> {
  const worlds = new Map<World, Death[]>()
  let calls = 0
  await play(shape, async (stage) => {
    await before(stage)
    const cluster = immortal(stage.cluster, (death) => {
      const world = `revision ${stage.simulated.store.revision} at ${stage.now}`
      worlds.set(world, [...(worlds.get(world) ?? []), death])
    })
    expect(await command(stage, { cluster })).toMatchObject({ code: 0 })
    calls = cluster.calls()
  })
  return { calls, worlds }
}

async function kill(stage: Stage, command: Command, death: Death): Promise<void> {
  const cluster = mortal(stage.cluster, death)
  const killed = command(stage, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  // Who dies while it lets go of the lock has nothing left to say but the end.
  const end = await killed
  expect(end instanceof Killed || (end as { code: number }).code === 0).toBe(true)
}

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

const nothing = async () => undefined

/** What is stored in v1beta1 alone is written as where v1 is served beside it. */
const hardest = owners.filter(({ name }) => !name.endsWith('alone'))

describe.each(hardest)('contract: SIGKILL at each API call, $name', async ({ shape }) => {
  const holding = await deathsOf(shape, hold, nothing)
  const restoring = await deathsOf(shape, restore, (stage) => stage.hold())

  test('every call is among the deaths', () => {
    for (const { calls, worlds } of [holding, restoring])
      for (let call = 1; call <= calls; call++)
        for (const death of [{ beforeCall: call }, { afterCall: call }])
          expect([...worlds.values()].flat()).toContainEqual(death)
  })

  test.each([...holding.worlds])(
    'hold killed at %s, restored elsewhere: byte for byte as it was',
    (_, [death]) =>
      play(shape, async (stage) => {
        await kill(stage, hold, death as Death)
        expect(storedMethods(stage) === first || (await stage.journal.overrides()).length === 1).toBe(true)
        expect(await stage.restore({}, { host: 'other' })).toMatchObject({ code: 0 })
        expect(storedMethods(stage)).toBe(first)
        expect(await stage.journal.overrides()).toEqual([])
      }),
  )

  test.each([...holding.worlds])(
    'hold killed at %s, held again and restored: byte for byte as it was',
    (_, [death]) =>
      play(shape, async (stage) => {
        await kill(stage, hold, death as Death)
        expect(await stage.hold({}, { host: 'other' })).toMatchObject({ code: 0 })
        expect(storedMethods(stage)).toBe('[]')
        expect(await stage.journal.overrides()).toMatchObject([
          { was: { value: JSON.parse(first) as string[] } },
        ])
        expect(await stage.restore({}, { host: 'third' })).toMatchObject({ code: 0 })
        await expectAsItWas(stage)
      }),
  )

  test.each([...restoring.worlds])(
    'restore killed at %s and run again: byte for byte as it was',
    (_, [death]) =>
      play(shape, async (stage) => {
        await stage.hold()
        await kill(stage, restore, death as Death)
        expect(await stage.restore({}, { host: 'other' })).toMatchObject({ code: 0 })
        await expectAsItWas(stage)
      }),
  )
})
