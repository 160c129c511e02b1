import { describe, expect, test } from 'vitest'
import type { KubeVirt } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { expectEnd } from './killed.ts'
import { immortal, Killed, mortal } from './mortal-cluster.ts'
import { all, along, onePointFive, store } from './path.ts'
import { play } from './stage.ts'

const shape = { ...onePointFive, workers: 2, vms: 1 }

/** How many calls a whole run makes, and what it leaves. */
async function survived(): Promise<{ calls: number; spec: KubeVirt['spec'] }> {
  let found: { calls: number; spec: KubeVirt['spec'] } | undefined
  await play(shape, async (stage) => {
    store(stage, ...all)
    const cluster = immortal(stage.cluster)
    expect(await along(stage, {}, { cluster })).toMatchObject({ code: 0 })
    found = { calls: cluster.calls(), spec: stage.kubevirt.spec }
  })
  if (found === undefined) throw new Error('it did not survive')
  return found
}

const deaths = 14

describe('SIGKILL anywhere on an upgrade path, resumed under another name', async () => {
  const { calls, spec } = await survived()
  // Not at equal distances: these would meet the same step of each minor.
  const sample = Array.from({ length: deaths }, (_, i) =>
    Math.round(((i + 0.5 + 0.31 * (i % 3)) * calls) / deaths),
  )

  test('there are calls to die at', () => {
    expect(calls).toBeGreaterThan(10 * deaths)
  })

  for (const [index, call] of sample.entries())
    test(`call ${call}: it ends as if nobody had killed it`, () =>
      play(shape, async (stage) => {
        store(stage, ...all)
        const cluster = mortal(stage.cluster, index % 2 === 0 ? { afterCall: call } : { beforeCall: call })
        const killed = along(stage, {}, { cluster, host: 'dead' }).catch((error: unknown) => error)
        await cluster.death
        const resumed = await along(stage, {}, { host: 'other' })
        expect(resumed.error?.message ?? '').toBe('')
        expect(resumed.code).toBe(0)
        expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
        await expectEnd(stage, spec)
        expect(await killed).toBeInstanceOf(Killed)
      }))

  test('killed three times on the way, each time resumed elsewhere', () =>
    play(shape, async (stage) => {
      store(stage, ...all)
      for (const share of [0.3, 0.5, 0.4]) {
        const cluster = mortal(stage.cluster, { afterCall: Math.round(share * calls) })
        const killed = along(stage, {}, { cluster, host: `dead-${share}` }).catch((error: unknown) => error)
        await Promise.race([cluster.death, killed])
        await killed
      }
      expect(await along(stage, {}, { host: 'other' })).toMatchObject({ code: 0 })
      await expectEnd(stage, spec)
    }))
})
