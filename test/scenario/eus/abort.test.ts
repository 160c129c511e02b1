import { describe, expect, test } from 'vitest'
import { play, type Stage } from '../stage.ts'
import { borrowedFields, doneSteps, eusAbortOn, eusRunOn, platformOf, small418 } from './window-stage.ts'

const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version
const specOf = (stage: Stage) => platformOf(stage).spec

async function expectNothingBorrowed(stage: Stage, before: unknown): Promise<void> {
  expect(borrowedFields(stage)).toEqual(before)
  expect(await stage.journal.loans()).toEqual([])
}

describe('night E2: abort by state', () => {
  test.each(['keep-baseline', 'hold-workload-updates', 'pause-worker', 'channel-4.19'])(
    'not accepted, stopped after %s: everything as it was, the channel and desiredUpdate included',
    (until) =>
      play(small418, async (stage) => {
        const [before, spec] = [borrowedFields(stage), structuredClone(specOf(stage))]
        expect(await eusRunOn(stage, { until })).toMatchObject({ code: 0 })
        const ended = await eusAbortOn(stage)
        expect(ended.error).toBeUndefined()
        expect(specOf(stage)).toEqual(spec)
        expect(versionOf(stage)).toBe('4.18.21')
        await expectNothingBorrowed(stage, before)
      }),
  )

  test('a hop is running: platform and operator of that hop come to their end, then all is given back', () =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      await eusRunOn(stage, { until: 'accepted-4.19' })
      const channel = specOf(stage)?.channel
      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.19.14')
      expect(specOf(stage)?.channel).toBe(channel)
      expect(specOf(stage)?.desiredUpdate?.version).toBe('4.19.14')
      expect(doneSteps(ended)).toEqual(
        expect.arrayContaining([
          'platform-4.19',
          'operator-4.19',
          'give-back-workload-updates',
          'rolled-worker',
        ]),
      )
      expect(ended.text).toContain('not undone: the platform stays at 4.19')
      await expectNothingBorrowed(stage, before)
    }))

  test('between hops: methods, then VMs, then pools, which roll to the minor in between', () =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      await eusRunOn(stage, { until: 'operator-4.19' })
      const ended = await eusAbortOn(stage)
      expect(ended.error).toBeUndefined()
      const steps = doneSteps(ended)
      const order = ['settled', 'give-back-workload-updates', 'workloads', 'unpause-worker', 'rolled-worker']
      expect(steps.filter((id) => order.includes(id))).toEqual(order)
      expect(versionOf(stage)).toBe('4.19.14')
      await expectNothingBorrowed(stage, before)
    }))

  test('nothing is open: nothing to do, and nothing is written', () =>
    play(small418, async (stage) => {
      const mark = stage.mark
      expect(await eusAbortOn(stage)).toMatchObject({ code: 0 })
      expect(stage.writes(mark)).toEqual([])
    }))
})
