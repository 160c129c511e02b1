import { expect, test } from 'vitest'
import { type VirtualMachine, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { overrideAnnotation } from '../../src/lib/vms/unblock/vm-overrides.ts'
import { type Command, deathsOf, drawn, kill, testCalls } from './killed.ts'
import type { Death } from './mortal-cluster.ts'
import { byManifest, play, type Stage } from './stage.ts'

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

/** What is changed is noted, what is noted is changed: one patch does both. */
async function expectNotedAsChanged(stage: Stage): Promise<void> {
  const changed = (await vms(stage)).map(({ spec }) => spec?.template?.spec?.evictionStrategy === 'None')
  expect(await notes(stage)).toEqual(changed)
}

const unblocking = await deathsOf(
  (act) =>
    play(shape, async (stage) => {
      await begin(stage)
      await act(stage)
    }),
  unblock,
)
const restoring = await deathsOf(
  (act) =>
    play(shape, async (stage) => {
      await begin(stage)
      await unblock(stage, {})
      await act(stage)
    }),
  restore,
)
testCalls(unblocking, restoring)

test.each(drawn(unblocking))(
  'contract: unblock killed at %s, restored: byte for byte as it was',
  (_, [death]) =>
    play(shape, async (stage) => {
      const before = await begin(stage)
      await kill(stage, unblock, death as Death)
      await expectNotedAsChanged(stage)
      expect(await restore(stage, { host: 'other' })).toMatchObject({ code: 0 })
      expect(await specs(stage)).toBe(before)
      expect(await notes(stage)).toEqual([false, false])
    }),
)

test.each(drawn(restoring))(
  'contract: restore killed at %s and resumed: byte for byte as it was',
  (_, [death]) =>
    play(shape, async (stage) => {
      const before = await begin(stage)
      await unblock(stage, {})
      await kill(stage, restore, death as Death)
      expect(await restore(stage, { host: 'other' })).toMatchObject({ code: 0 })
      expect(await specs(stage)).toBe(before)
      expect(await notes(stage)).toEqual([false, false])
    }),
)
