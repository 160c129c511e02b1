import { expect, test } from 'vitest'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { assessPlatform } from '../../../src/lib/openshift/platform-status.ts'
import { assessPool } from '../../../src/lib/openshift/machine-config-pools.ts'
import { minute, play, type Stage } from '../stage.ts'
import { eus418, eusRunOn, eusStatusOn, platformOf, playAt } from './window-stage.ts'

interface Left {
  lowSeconds: number
  highSeconds: number
}

async function leftNow(stage: Stage): Promise<Left> {
  const { documents } = await eusStatusOn(stage)
  return (documents[0] as unknown as { left: Left }).left
}

/** Looked at every so many ms until it holds. */
async function watched(stage: Stage, every: number, isOver: () => boolean): Promise<readonly Left[]> {
  const lefts = [await leftNow(stage)]
  while (!isOver()) {
    await stage.until(every)
    lefts.push(await leftNow(stage))
  }
  return lefts
}

function expectNeverMore(lefts: readonly Left[]): void {
  for (const end of ['lowSeconds', 'highSeconds'] as const) {
    const all = lefts.map((left) => left[end])
    expect(all).toEqual(all.toSorted((a, b) => b - a))
  }
}

test('while the platform updates, what its operator says is done is taken off what is left', () =>
  playAt('accepted-4.19')(async (stage) => {
    const percents: (number | undefined)[] = []
    const lefts = await watched(stage, 5 * minute, () => {
      percents.push(assessPlatform(platformOf(stage)).percent)
      return assessPlatform(platformOf(stage)).state === 'idle'
    })
    expectNeverMore(lefts)
    expect(new Set(lefts.map(({ highSeconds }) => highSeconds)).size).toBeGreaterThan(4)
    const most = percents.findLastIndex((percent) => percent !== undefined)
    expect(percents[most]).toBeGreaterThan(80)
    const [first, late, end] = [lefts[0], lefts[most], lefts.at(-1)].map((left) => left?.highSeconds ?? 0)
    const hop = (first ?? 0) - (end ?? 0)
    expect(hop).toBeGreaterThan(40 * 60)
    expect((late ?? 0) - (end ?? 0)).toBeLessThan(hop / 4)
  }))

test('while the pools roll, machines that have followed are taken off', () =>
  play(eus418, async (stage) => {
    expect(await eusRunOn(stage, { until: 'unpause-worker' })).toMatchObject({ code: 0 })
    const isRolled = () =>
      stage.simulated.store
        .list(MachineConfigPools)
        .items.every((pool) => assessPool(pool as never).state === 'updated')
    const lefts = await watched(stage, 2 * minute, isRolled)
    expectNeverMore(lefts)
    expect(lefts[0]?.lowSeconds).toBeGreaterThan(0)
    expect(lefts.at(-1)?.highSeconds).toBe(0)
  }))

test('how long a pool is expected to roll goes by its machines, and by how many roll at a time', () =>
  play(eus418, async (stage) => {
    const two = { spec: { maxUnavailable: 2 } }
    await stage.cluster.writer.mergePatch(MachineConfigPools, { name: 'worker' }, two)
    await stage.until(minute)
    const { events, error } = await eusRunOn(stage, { until: 'pause-worker' })
    expect(error).toBeUndefined()
    const [began] = events.flatMap((event) => (event.kind === 'run-started' ? [event] : []))
    const expected = (id: string) => began?.steps.find((step) => step.id === id)?.estimate
    const machines = (name: string) =>
      stage.simulated.store
        .list(MachineConfigPools)
        .items.map((pool) => assessPool(pool as never))
        .find((pool) => pool.name === name)?.machines ?? 0
    expect([machines('gpu'), machines('worker')]).toEqual([2, 3])
    expect([expected('rolled-gpu'), expected('rolled-worker')]).toEqual([2 * 13 * minute, 2 * 13 * minute])
  }))
