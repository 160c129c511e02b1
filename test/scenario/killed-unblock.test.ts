import { expect, test } from 'vitest'
import { type VirtualMachine, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { overrideAnnotation } from '../../src/lib/vms/unblock/vm-overrides.ts'
import { type Death, immortal, Killed, mortal } from './mortal-cluster.ts'
import { byManifest, play, type Stage, type Terminal } from './stage.ts'

type Command = (stage: Stage, terminal: Terminal) => Promise<{ code: number }>

const shape = {
  ...byManifest,
  vms: [
    { name: 'db', notMigratable: 'DisksNotLiveMigratable' },
    { name: 'job', runStrategy: 'Manual', notMigratable: 'DisksNotLiveMigratable' },
  ],
}
const unblock: Command = (stage, terminal) => stage.unblock({ accept: ['data-loss'] }, terminal)
const restore: Command = (stage, terminal) => stage.restore({}, terminal)

const vms = (stage: Stage): Promise<VirtualMachine[]> => stage.cluster.reader.list(VirtualMachines)
const specs = async (stage: Stage) => JSON.stringify((await vms(stage)).map(({ spec }) => spec))
const notes = async (stage: Stage) =>
  (await vms(stage)).map(({ metadata }) => metadata.annotations?.[overrideAnnotation] !== undefined)

/** A VM that nobody starts by itself runs nevertheless. */
async function begin(stage: Stage): Promise<string> {
  await stage.start('job')
  return specs(stage)
}

/** Every death of the command, before and after each of its calls; those that leave the same world behind are together. */
async function deathsOf(command: Command, before: (stage: Stage) => Promise<unknown>): Promise<Death[]> {
  const worlds = new Map<string, Death>()
  await play(shape, async (stage) => {
    await begin(stage)
    await before(stage)
    const cluster = immortal(stage.cluster, (death) => {
      const world = `${stage.simulated.store.revision} at ${stage.now}`
      if (!worlds.has(world)) worlds.set(world, death)
    })
    expect(await command(stage, { cluster })).toMatchObject({ code: 0 })
    expect(cluster.calls()).toBeGreaterThan(20)
  })
  return [...worlds.values()]
}

async function kill(stage: Stage, command: Command, death: Death): Promise<void> {
  const cluster = mortal(stage.cluster, death)
  const killed = command(stage, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  // Who dies while it lets go of the lock has nothing left to say but the end.
  const end = await killed
  expect(end instanceof Killed || (end as { code: number }).code === 0).toBe(true)
}

/** What is changed is noted, what is noted is changed: one patch does both. */
async function expectNotedAsChanged(stage: Stage): Promise<void> {
  const changed = (await vms(stage)).map(({ spec }) => spec?.template?.spec?.evictionStrategy === 'None')
  expect(await notes(stage)).toEqual(changed)
}

test('contract: unblock killed at each call and restored elsewhere: byte for byte as it was', async () => {
  const deaths = await deathsOf(unblock, async () => undefined)
  expect(deaths.length).toBeGreaterThan(8)
  for (const death of deaths)
    await play(shape, async (stage) => {
      const before = await begin(stage)
      await kill(stage, unblock, death)
      await expectNotedAsChanged(stage)
      expect(await restore(stage, { host: 'other' })).toMatchObject({ code: 0 })
      expect(await specs(stage)).toBe(before)
      expect(await notes(stage)).toEqual([false, false])
    })
})

test('contract: restore killed at each call and resumed elsewhere: byte for byte as it was', async () => {
  const deaths = await deathsOf(restore, (stage) => unblock(stage, {}))
  expect(deaths.length).toBeGreaterThan(8)
  for (const death of deaths)
    await play(shape, async (stage) => {
      const before = await begin(stage)
      await unblock(stage, {})
      await kill(stage, restore, death)
      expect(await restore(stage, { host: 'other' })).toMatchObject({ code: 0 })
      expect(await specs(stage)).toBe(before)
      expect(await notes(stage)).toEqual([false, false])
    })
})
