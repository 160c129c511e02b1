// Whole paths over three minors, killed on the way: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import type { KubeVirt } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { deathsOf, drawnWrites, expectEnd, kill } from './killed.ts'
import { type Death, mortal } from './mortal-cluster.ts'
import { all, along, onePointFive, store } from './path.ts'
import { play, type Stage, type Terminal } from './stage.ts'

const shape = { ...onePointFive, workers: 2, vms: 1 }
const run = async (stage: Stage, terminal: Terminal) => along(stage, {}, terminal)
const onPath = (act: (stage: Stage) => Promise<void>) =>
  play(shape, async (stage) => {
    store(stage, ...all)
    await act(stage)
  })

describe('SIGKILL anywhere on an upgrade path, resumed under another name', async () => {
  let spec: KubeVirt['spec']
  const deaths = await deathsOf(onPath, async (stage, terminal) => {
    const ended = await run(stage, terminal)
    spec = stage.kubevirt.spec
    return ended
  })

  test.each(drawnWrites(deaths, 3))('%s: it ends as if nobody had killed it', (_, [death]) =>
    onPath(async (stage) => {
      await kill(stage, run, death as Death)
      const resumed = await run(stage, { host: 'other' })
      expect([resumed.code, resumed.error?.message]).toEqual([0, undefined])
      expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
      await expectEnd(stage, spec)
    }),
  )

  test('killed three times on the way, each time resumed elsewhere', () =>
    onPath(async (stage) => {
      for (const share of [0.3, 0.5, 0.4]) {
        const cluster = mortal(stage.cluster, { afterCall: Math.round(share * deaths.calls) })
        const killed = run(stage, { cluster, host: `dead-${share}` }).catch((error: unknown) => error)
        await Promise.race([cluster.death, killed])
        await killed
      }
      expect(await run(stage, { host: 'other' })).toMatchObject({ code: 0 })
      await expectEnd(stage, spec)
    }))
})
