import { describe, expect, test } from 'vitest'
import { type Kind, type KubeObject } from '../../src/lib/kube/object.ts'
import { type InstallPlan, InstallPlans, Subscriptions } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { pendingPlans, toChannel } from './naive-person.ts'
import { minute, play, type Stage } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const okd = { ...small, olm: okdOlm() }
const of118 = { ...small, olm: okdOlm({ installed: '1.18.1', channel: 'stable-v1.18' }) }
const brief = { stableFor: '5s' }

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]

describe('ocp 9: where the naive way fails on the simulated cluster, and kvup does not', () => {
  test('trap 4: while nobody converts, a label through the wrong version turns workload updates on; kvup waits', () =>
    play(of118, async (stage) => {
      expect(await stage.hold()).toMatchObject({ code: 0 })
      stage.simulated.faults.set({ conversionLost: true })
      await stage.until(minute)
      stage.later(5 * minute, () => stage.simulated.faults.set({ conversionLost: undefined }))
      const mark = stage.mark
      expect(await stage.restore()).toMatchObject({ code: 4 })
      expect(stage.writes(mark).filter(({ resource }) => resource === 'hyperconvergeds')).toEqual([])
      await stage.until(5 * minute)
      expect(await stage.restore()).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    }))

  test('trap 12: Automatic does not approve the plan that waits already; kvup says so and does not either', () =>
    play(okd, async (stage) => {
      await toChannel(stage, 'stable-v1.18')
      await stage.until(minute)
      const [subscription] = stored(stage, Subscriptions)
      const spec = { installPlanApproval: 'Automatic' } as const
      if (subscription) await stage.cluster.writer.mergePatch(Subscriptions, subscription.metadata, { spec })
      await stage.until(30 * minute)
      expect(pendingPlans(stage)).toHaveLength(1)
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'automatic-unapproved' } })
      expect(pendingPlans(stage)).toHaveLength(1)
    }))
})

describe('an InstallPlan whose steps hold another CSV than they say', () => {
  test('is never approved, though all its names are right', () =>
    play({ ...okd, olm: { ...okd.olm, manifests: 'inline' } }, async (stage) => {
      const { store } = stage.simulated
      const spoil = ({ metadata, status }: InstallPlan) => {
        const before = JSON.stringify(status?.plan ?? [])
        // In the text of a manifest, which is text in the text of the plan; the names of steps stay.
        const plan = before.replaceAll(
          /\\"name\\":\\"kubevirt-hyperconverged-operator\.v[\d.]+\\"/gu,
          String.raw`\"name\":\"evil.v1.0.0\"`,
        )
        if (plan === before) return
        const body = { status: { plan: JSON.parse(plan) as object[] } }
        store.patch(InstallPlans, metadata, { type: 'merge', body }, { on: 'status' })
      }
      store.watch(InstallPlans, ({ object }) => spoil(object))
      for (const one of stored(stage, InstallPlans)) spoil(one)
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended).toMatchObject({ code: 3 })
      expect(ended.text).toContain('its steps have CSV evil.v1.0.0, which it does not name')
      expect(stage.writes().filter(({ resource }) => resource === 'installplans')).toEqual([])
    }))
})
