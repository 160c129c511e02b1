import { describe, expect, test } from 'vitest'
import type { Kind, KubeObject } from '../../../src/lib/kube/object.ts'
import {
  ClusterServiceVersions,
  HyperConvergeds,
  Subscriptions,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { runText } from '../../lib/run-text.ts'
import { approveWhateverIsThere, toChannel } from '../naive-person.ts'
import { minute, play, type Stage } from '../stage.ts'
import { after } from './meanwhile.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const okd = { ...small, olm: okdOlm() }
const brief = { stableFor: '5s' }
const namespace = 'kubevirt-hyperconverged'
const csvOf = (version: string) => `kubevirt-hyperconverged-operator.v${version}`

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>, where: object = {}): T[] =>
  simulated.store.list(kind, where).items as T[]
const subscription = (stage: Stage, packageName = 'community-kubevirt-hyperconverged') =>
  stored(stage, Subscriptions).find(({ spec }) => spec?.name === packageName)
const running = (stage: Stage) => ({
  operator: stored(stage, HyperConvergeds)[0]?.status?.versions?.find(({ name }) => name === 'operator')
    ?.version,
  kubevirt: stage.kubevirt.status?.observedKubeVirtVersion,
})
const upgraded = { operator: '1.18.1', kubevirt: 'v1.8.4' }

const hold = { held: 'a backup is under way' }

/** Somebody holds the operator, and somebody else, who does not look at its OperatorCondition, approves. */
async function approvedWhileHeld(stage: Stage): Promise<void> {
  await toChannel(stage, 'stable-v1.18')
  stage.simulated.faults.set(hold)
  await stage.until(minute)
  await approveWhateverIsThere(stage)
  await stage.until(20 * minute)
}

const statusOf = async ({ cluster, clock }: Stage): Promise<string> =>
  (await runText(['status', '-o', 'wide'], { cluster, clock })).out

describe('trap 11: a hold of OLM looks like an upgrade that is stuck, or done', () => {
  test('kvup says of a CSV that is gone that nobody makes it again, and waits for nothing else', () =>
    play(okd, async (stage) => {
      await approvedWhileHeld(stage)
      const held = await stage.upgrade('1.18.1', { ...brief, dryRun: 'client' })
      expect(held.text).toContain('is Pending (OperatorConditionNotUpgradeable: ')
      await stage.cluster.writer.delete(ClusterServiceVersions, { namespace, name: csvOf('1.18.1') })
      stage.simulated.faults.set({ held: undefined })
      await stage.until(20 * minute)
      const ended = await stage.upgrade('1.18.1', { ...brief, timeout: '10m' })
      expect(ended).toMatchObject({ code: 4 })
      const gone = `names ${csvOf('1.18.1')} as installed, and there is no such ClusterServiceVersion`
      expect(ended.error?.message).toContain(gone)
      expect(ended.text.split(gone).length).toBeGreaterThan(2)
      expect(stage.methods).toEqual(['LiveMigrate'])
    }))

  const says = [csvOf('1.17.3'), 'a backup is under way', 'get operatorconditions.operators.coreos.com']

  test('kvup says that it is held and by what, leaves everything of OLM alone, and goes on once it may', () =>
    play(okd, async (stage) => {
      await approvedWhileHeld(stage)
      const status = await statusOf(stage)
      expect(status).toMatch(/v1\.18\.1 is blocked by OLM; \S+\.v1\.17\.3 still runs/u)
      for (const words of says) expect(status).toContain(words)
      const mark = stage.mark
      const ended = await stage.upgrade('1.18.1', { ...brief, timeout: '10m' })
      expect(ended).toMatchObject({ code: 4 })
      for (const words of [`OLM blocks ${csvOf('1.18.1')}`, ...says]) expect(ended.text).toContain(words)
      const written = new Set(stage.writes(mark).map(({ resource }) => resource))
      expect([...written].toSorted()).toEqual(['configmaps', 'leases'])
      stage.simulated.faults.set({ held: undefined })
      expect(await stage.upgrade('1.18.1', brief)).toMatchObject({ code: 0 })
      expect(running(stage)).toEqual(upgraded)
    }))

  test('kvup, held behind its own approval, neither takes it for done nor approves or deletes anything again', () =>
    play(okd, async (stage) => {
      stage.later(30 * minute, () => stage.simulated.faults.set({ held: undefined }))
      const onEvent = after('approve-1.18.1', () => stage.simulated.faults.set(hold), 'step-applied')
      const ended = await stage.upgrade('1.18.1', brief, { onEvent })
      expect(ended).toMatchObject({ code: 0 })
      expect(ended.took).toBeGreaterThan(30 * minute)
      const waits = JSON.stringify(ended.events.filter(({ kind }) => kind === 'step-waiting'))
      expect(waits).toContain('OLM blocks the update')
      expect(stage.writes().filter(({ resource }) => resource === 'installplans')).toHaveLength(1)
      // The census of the run is kvup's own, and goes with its end.
      const deleted = stage.writes().filter(({ verb }) => verb === 'delete')
      expect(deleted.map(({ name }) => name)).toEqual(['kvup-census-1'])
      expect(running(stage)).toEqual(upgraded)
    }))
})

/** Argo CD, whose CSV is copied to every namespace and is the first by name in each. */
const argocd = {
  package: 'argocd-operator',
  channel: 'alpha',
  approval: 'Automatic',
  installed: '0.12.0',
  entries: [{ name: 'argocd-operator.v0.12.0', version: '0.12.0' }],
  namespace: 'openshift-operators',
} as const
const arbitrary = { ...small, olm: okdOlm({ subscription: 'my-virtualization', others: [argocd] }) }

describe('trap 14: whose CSV it is, what its Subscription is called, and which channel leads on', () => {
  test('kvup finds it by its package whatever it is called, sets the channel of the minor, and touches no other', () =>
    play(arbitrary, async (stage) => {
      expect(await statusOf(stage)).toMatch(
        /CSV +\S+ healthy: kubevirt-hyperconverged-operator\.v1\.17\.3 is Succeeded/u,
      )
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended).toMatchObject({ code: 0 })
      expect(running(stage)).toEqual(upgraded)
      const written = stage.writes().filter(({ resource }) => resource === 'subscriptions')
      expect(written.map(({ name }) => name)).toEqual(['my-virtualization'])
      expect(subscription(stage)?.spec?.channel).toBe('stable-v1.18')
      expect(subscription(stage, argocd.package)).toMatchObject({
        spec: { channel: 'alpha' },
        status: { installedCSV: 'argocd-operator.v0.12.0' },
      })
    }))
})
