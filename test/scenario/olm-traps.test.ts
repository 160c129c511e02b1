import { describe, expect, test } from 'vitest'
import { atVersion, type Kind, type KubeObject } from '../../src/lib/kube/object.ts'
import {
  HyperConvergeds,
  type InstallPlan,
  InstallPlans,
  Subscriptions,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { storedMethods } from './settings-owners.ts'
import { approveWhateverIsThere, pendingPlans, toChannel } from './naive-person.ts'
import { nmo } from './other-operator.ts'
import { minute, play, second, type Stage } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const okd = { ...small, olm: okdOlm() }
const of118 = { ...small, olm: okdOlm({ installed: '1.18.1', channel: 'stable-v1.18' }) }
const brief = { stableFor: '5s' }

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]
const plansOf = (stage: Stage, version: string) =>
  stored(stage, InstallPlans).filter(({ spec }) =>
    spec?.clusterServiceVersionNames?.some((name) => name.endsWith(`.v${version}`)),
  )
const installed = (stage: Stage) =>
  stored(stage, Subscriptions).map(({ status }) => status?.installedCSV ?? '')
const hco = ({ home }: Stage) => ({ name: 'kubevirt-hyperconverged', namespace: home })
const inV1 = atVersion(HyperConvergeds, 'v1')

describe('ocp 9: where the naive way fails on the simulated cluster, and kvup does not', () => {
  test('trap 3: the documented patch has no path in the version that is preferred since 1.18', () =>
    play(of118, async (stage) => {
      const path = '/spec/workloadUpdateStrategy/workloadUpdateMethods'
      const naive = stage.cluster.writer.jsonPatch(inV1, hco(stage), [{ op: 'replace', path, value: [] }])
      await expect(naive).rejects.toThrow(/the server rejected our request/u)
      expect(await stage.hold()).toMatchObject({ code: 0 })
      expect(storedMethods(stage)).toBe('[]')
    }))

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

  test('trap 4, naively: what was held is on again', () =>
    play(of118, async (stage) => {
      expect(await stage.hold()).toMatchObject({ code: 0 })
      stage.simulated.faults.set({ conversionLost: true })
      await stage.until(minute)
      await stage.cluster.writer.mergePatch(inV1, hco(stage), { metadata: { labels: { team: 'a' } } })
      expect(storedMethods(stage)).not.toBe('[]')
    }))

  test('trap 12: approving what is pending updates the neighbour too; kvup refuses and says whom', () =>
    play({ ...small, olm: okdOlm({ others: [nmo] }) }, async (stage) => {
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'plan-installs-more' } })
      expect(installed(stage).some((csv) => csv.includes('5.4.0'))).toBe(false)
      await approveWhateverIsThere(stage)
      await stage.until(5 * minute)
      expect(installed(stage).some((csv) => csv.includes('5.4.0'))).toBe(true)
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

  const slow = { ...okd, faults: { planStatusAfter: 20 * second } }

  test('trap 13: approved as soon as it is there, a plan is made a second time', () =>
    play(slow, async (stage) => {
      await toChannel(stage, 'stable-v1.18')
      for (let tries = 0; tries < 60 && pendingPlans(stage).length === 0; tries++) await stage.until(second)
      await approveWhateverIsThere(stage)
      await stage.until(2 * minute)
      expect(plansOf(stage, '1.18.1').length).toBeGreaterThan(1)
    }))

  test('trap 13: kvup waits until it asks for approval: one plan', () =>
    play(slow, async (stage) => {
      expect(await stage.upgrade('1.18.1', brief)).toMatchObject({ code: 0 })
      expect(plansOf(stage, '1.18.1')).toHaveLength(1)
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
