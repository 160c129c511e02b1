import { describe, expect, test } from 'vitest'
import { type MachineConfigPool, MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { minute, type Stage } from '../stage.ts'
import { doneSteps, eusRunOn, platformOf, playAt, playTwoPoolsAt, restoreOn } from './window-stage.ts'

const pools = ({ simulated }: Stage) =>
  simulated.store.list(MachineConfigPools).items as readonly MachineConfigPool[]
const isPaused = (stage: Stage, name: string) =>
  pools(stage).find(({ metadata }) => metadata.name === name)?.spec?.paused === true

/** The most pools that had a machine away at the same time. */
function mostAway(stage: Stage): () => number {
  let most = 0
  stage.simulated.store.watch(MachineConfigPools, () => {
    const away = pools(stage).filter(({ status }) => (status?.unavailableMachineCount ?? 0) > 0)
    most = Math.max(most, away.length)
  })
  return () => most
}

describe('night E5: restore --pools gives pools back as the end of a window does', () => {
  test('one at a time, in the order that you requested, the next after the one before has rolled', () =>
    playTwoPoolsAt('operator-4.19')(async (stage) => {
      const most = mostAway(stage)
      const ended = await restoreOn(stage, { pools: true, poolOrder: ['worker'] })
      expect(ended.error).toBeUndefined()
      const ofPools = ['worker', 'gpu'].flatMap((name) => [
        `room-${name}`,
        `unpause-${name}`,
        `rolled-${name}`,
      ])
      expect(doneSteps(ended).filter((id) => ofPools.includes(id))).toEqual(ofPools)
      expect(doneSteps(ended).indexOf('resume-workload-updates')).toBeLessThan(
        doneSteps(ended).indexOf('none-outdated'),
      )
      expect(most()).toBe(1)
      expect(pools(stage).every(({ status }) => status?.updatedMachineCount === 1)).toBe(true)
    }))

  test('a second one, asked for while the first rolls, waits for it', () =>
    playTwoPoolsAt('operator-4.19')(async (stage) => {
      const most = mostAway(stage)
      expect(await restoreOn(stage, { whats: ['pool/gpu'], until: 'unpause-gpu' })).toMatchObject({
        code: 0,
      })
      const ended = await restoreOn(stage, { whats: ['pool-paused/worker'] })
      expect(ended.error).toBeUndefined()
      expect(most()).toBe(1)
    }))

  test('while the platform is updating to a release, nothing is unpaused before it is there', () =>
    playAt('accepted-4.19')(async (stage) => {
      const ended = await restoreOn(stage, { whats: ['pool-paused/worker'] })
      expect(ended.error).toBeUndefined()
      expect(doneSteps(ended).indexOf('platform-4.19.14')).toBeLessThan(
        doneSteps(ended).indexOf('unpause-worker'),
      )
      expect(platformOf(stage).status?.history?.[0]).toMatchObject({ state: 'Completed' })
    }))
})

const began = (stage: Stage) => stage.journal.kept('eus to 4.20/began')

test('the window is closed with its last loan, also by who runs again what ended right behind it; the next run begins where the platform is', () =>
  playAt('operator-4.19')(async (stage) => {
    await restoreOn(stage)
    expect(await began(stage)).toMatchObject({ from: '4.18.21' })
    await restoreOn(stage, { pools: true, pauseBefore: ['close-window'] })
    expect(await stage.journal.overrides()).toEqual([])
    expect(await began(stage)).toBeDefined()
    expect(await restoreOn(stage)).toMatchObject({ code: 0 })
    expect(await began(stage)).toBeUndefined()
    const mark = stage.mark
    expect(await restoreOn(stage)).toMatchObject({ code: 0 })
    expect(stage.writes(mark)).toEqual([])
  }))

test('nor does a run take what such a restore has left for what it began with', () =>
  playAt('operator-4.19')(async (stage) => {
    await restoreOn(stage, { pools: true, pauseBefore: ['close-window'] })
    await stage.until(10 * minute)
    expect(await eusRunOn(stage, { until: 'accepted-4.20' })).toMatchObject({ code: 0 })
    expect(await began(stage)).toMatchObject({ from: '4.19.14', mode: 'rolling' })
    expect(isPaused(stage, 'worker')).toBe(false)
  }))
