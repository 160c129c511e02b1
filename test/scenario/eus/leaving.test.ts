import { describe, expect, test } from 'vitest'
import { MachineConfigPools } from '../../../src/lib/cluster/kinds/openshift.ts'
import { ocp418to420 } from '../../../src/lib/simulator/openshift/graphs.ts'
import { play, type Stage } from '../stage.ts'
import { borrowedFields, doneSteps, eusAbortOn, eusRunOn, platformOf, small418 } from './window-stage.ts'

const small41818 = { ...small418, openshift: { ...ocp418to420, ...small418.openshift, version: '4.18.18' } }

const withGpu = {
  ...small418,
  openshift: {
    ...ocp418to420,
    ...small418.openshift,
    pools: ['master', 'worker', 'gpu'].map((name) => ({ name, nodes: 1 })),
  },
}

const firstOfHistory = (stage: Stage) => platformOf(stage).status?.history?.[0]

async function expectNothingBorrowed(stage: Stage, before: unknown): Promise<void> {
  expect(borrowedFields(stage)).toEqual(before)
  expect(await stage.journal.loans()).toEqual([])
}

describe('night E2: a patch is a hop as well', () => {
  test('while it runs: abort sees it to its end before anything moves, and says what stays', () =>
    play(small41818, async (stage) => {
      const before = borrowedFields(stage)
      expect(await eusRunOn(stage, { until: 'accepted-4.18.21' })).toMatchObject({ code: 0 })
      expect(firstOfHistory(stage)).toMatchObject({ state: 'Partial', version: '4.18.21' })
      const spec = structuredClone(platformOf(stage).spec)

      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      expect(firstOfHistory(stage)).toMatchObject({ state: 'Completed', version: '4.18.21' })
      expect(platformOf(stage).spec).toEqual(spec)
      const steps = doneSteps(ended)
      const order = ['platform-4.18.21', 'give-back-workload-updates', 'unpause-worker', 'rolled-worker']
      expect(steps.filter((id) => order.includes(id))).toEqual(order)
      expect(steps).not.toContain('operator-4.18')
      await expectNothingBorrowed(stage, before)

      expect(ended.text).not.toContain('no hop was accepted')
      expect(ended.text).toContain('the platform is on its way to 4.18.21: that hop is seen to its end first')
      expect(ended.text).toContain(`the channel stays ${spec?.channel}`)
      expect(ended.text).toContain('the platform stays at 4.18.21, it does not go back to 4.18.18')
    }))

  test('not begun: the end says what was given back, and nothing of what was not borrowed', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-worker' })
      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      expect(ended.text).toContain('no hop was accepted: the platform is at 4.18.21, as it was')
      expect(ended.text).toContain('given back: workload-updates, pool-paused/worker')
      expect(ended.text).not.toContain('desiredUpdate')
    }))

  test('the channel was set and nothing asked for: it goes back, and both ends say to what', () =>
    play(small418, async (stage) => {
      const channel = platformOf(stage).spec?.channel
      await eusRunOn(stage, { until: 'channel-4.19' })
      expect(platformOf(stage).spec?.channel).not.toBe(channel)
      const ended = await eusAbortOn(stage)
      expect(platformOf(stage).spec?.channel).toBe(channel)
      expect(ended.text).toContain(`no hop was accepted: the channel goes back to ${channel}`)
      expect(ended.text).toMatch(/given back: .*platform-channel/u)
    }))
})

test('a pool that is gone since, with its machines: nothing is left borrowed for it', () =>
  play(withGpu, async (stage) => {
    await eusRunOn(stage, { until: 'pause-worker' })
    await stage.cluster.writer.delete(MachineConfigPools, { name: 'gpu' })
    const ended = await eusAbortOn(stage)
    expect(ended.error).toBeUndefined()
    expect(ended.text).toContain('not given back: pool-paused/gpu')
    expect(await stage.journal.loans()).toEqual([])
  }))
