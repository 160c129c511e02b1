import { describe, expect, test } from 'vitest'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { play, type Stage } from '../stage.ts'
import { refusing, writesTo } from './meanwhile.ts'
import { eusRunOn, platformOf, small418, playAt } from './window-stage.ts'

const pool = { name: 'worker' }
const patchPool = (stage: Stage, spec: object) =>
  stage.cluster.writer.mergePatch(MachineConfigPools, pool, { spec })

describe('night E1: the gate is per step', () => {
  test('an operator of the platform that says no keeps the platform step from being asked for', () =>
    playAt('pause-worker')(async (stage) => {
      stage.simulated.faults.set(refusing)
      await stage.until(120_000)
      const mark = stage.mark
      const ended = await eusRunOn(stage)
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.error?.message).toContain('a disk is broken')
      expect(writesTo(stage, 'clusterversions', mark)).toEqual([])
    }))

  test('an open admin gate is shown, and never acknowledged; once a person has, it goes on', () =>
    play(
      {
        ...small418,
        openshift: { ...small418.openshift, ...gated } as typeof ocp418to420,
      },
      async (stage) => {
        const first = await eusRunOn(stage)
        expect(first).toMatchObject({ code: 3 })
        expect(first.text).toContain('read this first')
        expect(stage.writes()).toEqual([])
        const ended = await eusRunOn(stage, { accept: ['admin-gates-open', 'platform-not-upgradeable'] })
        expect(ended.error?.reason).toBe('admin-gate')
        expect(writesTo(stage, 'clusterversions')).toEqual([])
        const acks = stage.simulated.store.read(ConfigMaps, {
          namespace: 'openshift-config',
          name: 'admin-acks',
        })
        expect((acks as { data?: object } | undefined)?.data ?? {}).toEqual({})
        const data = { 'ack-4.18-apis-in-4.19': 'true' }
        const place = { namespace: 'openshift-config', name: 'admin-acks' }
        await stage.cluster.writer.mergePatch(ConfigMaps, place, { data } as object)
        await stage.until(120_000)
        expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
      },
    ))
})

const gated = { adminGates: { 'ack-4.18-apis-in-4.19': 'read this first' } }

/** The platform turns down what it was asked for: before it is, the gate was seen open. */
async function refused(stage: Stage, options: { leaveRequested?: boolean } = {}) {
  const onEvent = (event: { kind: string; step?: { id: string } }) => {
    if (event.kind === 'step-applied' && event.step?.id === 'request-4.19')
      stage.simulated.faults.set(refusing)
  }
  return eusRunOn(stage, options, { onEvent })
}

describe('night E6: a request that is refused', () => {
  test('is taken back at once, exactly that; everything else stays borrowed, and a resumed run asks again', () =>
    play(small418, async (stage) => {
      const spec = structuredClone(platformOf(stage).spec)
      const ended = await refused(stage)
      expect(ended.error?.reason).toBe('update-refused')
      expect(ended.error?.message).toContain('a disk is broken')
      expect(platformOf(stage).spec?.desiredUpdate).toEqual(spec?.desiredUpdate)
      expect(platformOf(stage).status?.desired?.version).toBe('4.18.21')
      const overrides = (await stage.journal.overrides()).map(({ id }) => id)
      expect(overrides).not.toContain('desired-update')
      expect(overrides).toContain('pool-paused/worker')
      stage.simulated.faults.set({ notUpgradeable: undefined })
      await stage.until(120_000)
      expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
      expect(platformOf(stage).status?.desired?.version).toBe('4.19.14')
    }))
})

describe('night E5: pools', () => {
  test('who unpauses one while the platform rolls ends the wait', () =>
    play(small418, async (stage) => {
      stage.later(20 * 60_000, () => void patchPool(stage, { paused: false }))
      const ended = await eusRunOn(stage)
      expect(ended.error?.reason).toBe('override-changed')
    }))
})
