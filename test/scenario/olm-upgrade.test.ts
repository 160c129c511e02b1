import { describe, expect, test } from 'vitest'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { HyperConvergeds, InstallPlans, Subscriptions } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { ocpOlm, okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { play, second, type Stage } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const okd = { ...small, olm: okdOlm() }
const brief = { stableFor: '5s' }

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]
const subscriptionOf = (stage: Stage) => stored(stage, Subscriptions)[0]
const approvedCsvs = (stage: Stage) =>
  stored(stage, InstallPlans)
    .filter(({ spec }) => spec?.approved)
    .map(({ spec }) => spec?.clusterServiceVersionNames?.join())

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`

const done = ({ events }: { events: readonly { kind: string }[] }) =>
  events.flatMap((event) =>
    event.kind === 'step-done' ? [(event as unknown as { step: { id: string } }).step.id] : [],
  )

async function expectAtTarget(stage: Stage, version: string, kubevirt: string): Promise<void> {
  const [hco] = stored(stage, HyperConvergeds)
  expect(hco?.status?.versions).toContainEqual({ name: 'operator', version })
  expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe(kubevirt)
  expect(stage.methods).toEqual(['LiveMigrate'])
  expect(await stage.journal.overrides()).toEqual([])
}

describe('kvup upgrade --method olm', () => {
  test('one hop on OKD: a version of KubeVirt is mapped, the channel is set, exactly one plan is approved, all is given back, and a second run has nothing to do', () =>
    play(okd, async (stage) => {
      const before = approvedCsvs(stage).length
      const ended = await stage.upgrade('v1.8.4', { ...brief, method: 'olm' })
      expect(ended.text).toMatch(/KubeVirt v1\.8\.4 comes with HyperConverged 1\.18\.1/u)
      expect(ended.code).toBe(0)
      expect(approvedCsvs(stage).length - before).toBe(1)
      expect(subscriptionOf(stage)?.spec?.channel).toBe('stable-v1.18')
      expect(ended.text).toMatch(
        /^Upgrade HyperConverged 1\.17\.3 → 1\.18\.1, KubeVirt v1\.7\.4 → v1\.8\.4 /mu,
      )
      await expectAtTarget(stage, '1.18.1', 'v1.8.4')
      const mark = stage.mark
      expect(await stage.upgrade('1.18.1', brief)).toMatchObject({ code: 0 })
      expect(stage.writes(mark)).toEqual([])
    }))

  test('the last line says the KubeVirt that runs, where the table has another one for this release', () => {
    const { channels } = okdOlm()
    const bringing = (kubevirt: string) =>
      channels.map((channel) => ({
        name: channel.name,
        entries: channel.entries.map((one) => (one.version === '1.18.1' ? { ...one, kubevirt } : one)),
      }))
    return play({ ...small, olm: okdOlm({ channels: bringing('v1.8.0') }) }, async (stage) => {
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'done', to: 'v1.8.0' }] })
      expect(ended.documents).toMatchObject([
        {
          virtctl: expect.stringContaining('/v1.8.0/') as string,
          operator: { from: '1.17.3', to: '1.18.1' },
        },
      ])
      expect(ended.text).toMatch(/^\+ HyperConverged 1\.18\.1 \(KubeVirt v1\.8\.0\), \d+ /mu)
      await expectAtTarget(stage, '1.18.1', 'v1.8.0')
    })
  })

  test('two minors are two hops, each in the channel of its minor', () =>
    play({ ...small, olm: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }) }, async (stage) => {
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended.text).toMatch(
        /1\.16\.0 → 1\.17\.3 \(channel stable-v1\.17\) → 1\.18\.1 \(channel stable-v1\.18\)/u,
      )
      expect(ended.code).toBe(0)
      expect(done(ended).filter((id) => id.startsWith('approve'))).toEqual([
        'approve-1.17.3',
        'approve-1.18.1',
      ])
      await expectAtTarget(stage, '1.18.1', 'v1.8.4')
    }))

  test('OLM may take a release that nobody knew of first', () =>
    play({ ...small, olm: ocpOlm({ installed: '4.18.9' }) }, async (stage) => {
      const ended = await stage.upgrade('4.19.5', brief)
      expect(ended.code).toBe(0)
      expect(approvedCsvs(stage)).toContain(csv('4.19.5'))
    }))

  test('a Subscription that approves by itself is joined', () =>
    play({ ...small, olm: okdOlm({ approval: 'Automatic' }) }, async (stage) => {
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended.code).toBe(0)
      expect(stage.writes().filter(({ resource }) => resource === 'installplans')).toEqual([])
      await expectAtTarget(stage, '1.18.1', 'v1.8.4')
    }))

  test('of two at once one does it, the other is told who', () =>
    play(okd, async (stage) => {
      const first = stage.upgrade('1.18.1', brief, { host: 'here' })
      await stage.until(20 * second)
      const other = await stage.upgrade('1.18.1', brief, { host: 'there' })
      expect(other).toMatchObject({ code: 6, error: { reason: 'locked' } })
      expect(other.text).toContain('jane@here')
      expect((await first).code).toBe(0)
      await expectAtTarget(stage, '1.18.1', 'v1.8.4')
    }))

  test('night E13: what HyperConverged changes in its own spec stays, what was borrowed is given back in the version that is stored by then', () =>
    play({ ...small, olm: okdOlm({ installed: '1.18.1', channel: 'stable-v1.18' }) }, async (stage) => {
      const before = completionTimeout(stage)
      expect((await stage.upgrade('1.19.0', brief)).code).toBe(0)
      expect([before, completionTimeout(stage)]).toEqual([150, 20])
      await expectAtTarget(stage, '1.19.0', 'v1.9.0')
    }))
})

/** As it is passed on to KubeVirt: the version of HyperConverged that is stored changes meanwhile. */
const completionTimeout = ({ kubevirt }: Stage) =>
  (kubevirt.spec?.configuration as { migrations?: { completionTimeoutPerGiB?: number } } | undefined)
    ?.migrations?.completionTimeoutPerGiB
