import { describe, expect, test } from 'vitest'
import { Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { play, type Stage } from '../stage.ts'
import { lying } from './lying-reader.ts'
import { after, patchWorkers, writesTo } from './meanwhile.ts'
import { borrowedFields, doneSteps, eusRunOn, small418, playAt } from './window-stage.ts'

describe('night E5: a pool is paused only once it is through with what it was told', () => {
  test.each(['Updating', 'Degraded'])('%s behind the question: not paused', (is) =>
    play(small418, async (stage) => {
      let since = Number.POSITIVE_INFINITY
      const cluster = lying(stage.cluster, 'machineconfigpools', (pool) => {
        const isShown = pool.metadata.name === 'worker' && stage.now >= since && stage.now < since + 600_000
        if (isShown) for (const one of pool.status.conditions) one.status = one.type === is ? 'True' : 'False'
        return pool
      })
      const onEvent = after('pause-workload-updates', () => (since = stage.now))
      const began = stage.now
      const ended = await eusRunOn(stage, { until: 'pause-worker' }, { cluster, onEvent })
      expect(ended).toMatchObject({ code: 0 })
      const [write] = writesTo(stage, 'machineconfigpools')
      expect(write?.at.getTime()).toBeGreaterThan(began + 600_000)
    }),
  )

  test('one that is ours, and was unpaused by somebody, is paused again at once with --accept, however it rolls', () =>
    playAt('control-plane-4.19')(async (stage) => {
      await patchWorkers(stage, { paused: false })
      await stage.until(60_000)
      const before = stage.now
      const options = { accept: ['override-changed'], until: 'pause-worker' }
      expect(await eusRunOn(stage, options)).toMatchObject({ code: 0 })
      expect(borrowedFields(stage).paused['worker']).toBe(true)
      expect(stage.now - before).toBeLessThan(60_000)
    }))
})

const kubelets = async ({ cluster }: Stage) =>
  (await cluster.reader.list(Nodes)).map(({ status }) => status?.nodeInfo?.kubeletVersion?.slice(0, 5))

test('a pool that somebody pauses again right behind kvup is named, or left to them with --accept, and the window stays open; unpaused, the same command closes it', () =>
  play(small418, async (stage) => {
    const onEvent = after('unpause-worker', () => void patchWorkers(stage, { paused: true }))
    const ended = await eusRunOn(stage, {}, { onEvent })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'pool-paused-already' } })
    expect(await eusRunOn(stage)).toMatchObject({ code: 3, error: { reason: 'pool-paused-already' } })
    const accept = ['pool-paused-already']
    const left = await eusRunOn(stage, { accept, until: 'rolled-worker' })
    expect(left).toMatchObject({ code: 0 })
    expect(doneSteps(left)).toContain('rolled-worker')
    expect(borrowedFields(stage).paused['worker']).toBe(true)
    await patchWorkers(stage, { paused: false })
    expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
    expect(await kubelets(stage)).toEqual(['v1.33', 'v1.33'])
  }))
