import { describe, expect, test } from 'vitest'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import {
  HyperConvergeds,
  InstallPlans,
  PackageManifests,
  Subscriptions,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import { ocp418to420 } from '../../src/simulator/openshift/openshift-shape.ts'
import { ocpOlm, okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { runText } from '../lib/run-text.ts'
import { okdWithPatch } from './okd-with-patch.ts'
import { nmo } from './other-operator.ts'
import { pasteKubectl } from './pasted-kubectl.ts'
import { minute, play, type Stage } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const okd = { ...small, olm: okdOlm() }
const ocp = { ...small, olm: ocpOlm({ installed: '4.18.9' }) }
const brief = { stableFor: '5s' }

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]

const isOfCluster = (resource: string) => resource !== 'leases' && resource !== 'configmaps'

const hcoCsv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const catalogOf = (name: string, entry: object) =>
  JSON.stringify({
    schema: 'olm.channel',
    package: 'community-kubevirt-hyperconverged',
    name,
    entries: [entry],
  })
/** 1.18.1 replaces 1.17.3, and nothing is known of 1.17.4. */
const okdCatalog = catalogOf('stable-v1.18', { name: hcoCsv('1.18.1'), replaces: hcoCsv('1.17.3') })

const approvals = (stage: Stage) => stage.writes().filter(({ resource }) => resource === 'installplans')

describe('kvup upgrade --method olm refuses, and nothing was changed', () => {
  test('a target that is older, unknown, not offered, or of another product', () =>
    play(okd, async (stage) => {
      for (const [to, reason, says] of [
        ['1.16.0', 'target-older', 'OLM does not downgrade'],
        ['1.20.0', 'target-unknown', 'no HyperConverged is known to bring KubeVirt v1.20.0'],
        [
          'v1.8.3',
          'target-unknown',
          'the catalog has 1.15.2 (v1.5.2), 1.16.0 (v1.6.2), 1.17.3 (v1.7.4), 1.18.1 (v1.8.4)',
        ],
        ['1.18.0', 'target-not-offered', '1.18.1'],
        [
          '4.18.9',
          'target-unknown',
          'is a version of OpenShift Virtualization; this cluster runs HyperConverged',
        ],
      ] as const) {
        const ended = await stage.upgrade(to, brief)
        expect([to, ended.code, ended.error?.reason]).toEqual([to, 3, reason])
        expect(ended.text).toContain(says)
        expect(ended.error?.remedy.length).toBeGreaterThan(0)
      }
      expect(stage.writes()).toEqual([])
    }))

  test('a version of KubeVirt on OpenShift, whose own patch releases are in no table', () =>
    play(ocp, async (stage) => {
      const ended = await stage.upgrade('v1.5.2', brief)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'target-unknown' } })
      expect(ended.text).toContain('OpenShift Virtualization 4.19; the catalog shows 4.19.5, 4.19.8')
    }))

  test('what is wrong with the operator has one name, whichever command meets it', () =>
    play({ ...ocp, openshift: ocp418to420 }, async (stage) => {
      const ref = { name: 'hco-operatorhub', namespace: 'openshift-cnv' }
      const found = await stage.cluster.reader.get(Subscriptions, ref)
      if (found.is !== 'object') throw new Error('no Subscription')
      const other = { ...found.object, metadata: { name: ref.name, namespace: 'default' } }
      const plan = ['eus', 'plan', '--to', '4.20']
      const place = { cluster: stage.cluster, clock: stage.clock, files: {} }
      const both = async () => [
        (await stage.upgrade('4.18.13', brief)).error?.reason,
        /\(((?:no|several)-[a-z]+)\)/u.exec((await runText(plan, place)).out)?.[1],
      ]
      await stage.cluster.writer.create(Subscriptions, other)
      expect(await both()).toEqual(['several-subscriptions', 'several-subscriptions'])
      await stage.cluster.writer.delete(Subscriptions, other.metadata)
      await stage.cluster.writer.delete(Subscriptions, ref)
      expect(await both()).toEqual(['no-subscription', 'no-subscription'])
    }))

  test('two HyperConvergeds, the manifest method', () =>
    play(okd, async (stage) => {
      const [hco] = stored(stage, HyperConvergeds)
      if (!hco) throw new Error('no HyperConverged')
      const another = { ...hco, metadata: { name: hco.metadata.name, namespace: 'default' } }
      await stage.cluster.writer.create(HyperConvergeds, another)
      for (const [to, method, reason] of [
        ['1.18.1', 'auto', 'several-hyperconvergeds'],
        ['v1.8.4', 'operator-manifest', 'managed-by-hyperconverged'],
      ] as const)
        expect(await stage.upgrade(to, { ...brief, method })).toMatchObject({ code: 3, error: { reason } })
      const asTyped = await stage.upgrade('1.18.1', { ...brief, method: 'operator-manifest' })
      expect(asTyped.text).toContain('kvup upgrade --to 1.18.1 --method olm')
    }))

  test('a catalog file that leads somewhere else says how far it goes; one that leads past a minor alone is not refused, for OLM takes it', () =>
    play(okd, async (stage) => {
      const named = { ...brief, catalogFile: 'catalog.json', dryRun: 'client' }
      const short = { name: hcoCsv('1.18.0'), replaces: hcoCsv('1.17.3') }
      stage.files.set('catalog.json', catalogOf('stable-v1.18', short))
      const ended = await stage.upgrade('1.18.1', named)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'target-unreachable' } })
      expect(ended.text).toContain('kvup upgrade --to 1.18.0 --method olm')
      const past = { name: hcoCsv('1.19.0'), skipRange: '>=1.0.0 <1.19.0' }
      stage.files.set('catalog.json', catalogOf('stable-v1.19', past))
      const { text } = await stage.upgrade('1.19.0', named)
      expect(text).toContain('from HyperConverged 1.17.3 to 1.19.0 without a release of a minor in between')
      expect(text).toContain('(minor-skipped)')
    }))
})

describe('night E4: the wrong InstallPlan is not approved', () => {
  test('one that would update another operator too; with --approve-also it is', () =>
    play({ ...small, olm: okdOlm({ others: [nmo] }) }, async (stage) => {
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'plan-installs-more' } })
      expect(ended.text).toContain('--approve-also node-maintenance-operator.v5.4.0')
      expect(approvals(stage)).toEqual([])
      expect(stage.methods).toEqual([])
      const again = await stage.upgrade('1.18.1', { ...brief, approveAlso: 'node-maintenance-operator' })
      expect(again.code).toBe(0)
      expect(approvals(stage)).toHaveLength(1)
      expect(stage.methods).toEqual(['LiveMigrate'])
    }))

  test('one off the path is told before anything is borrowed, and the printed lines take it away', () =>
    play({ ...small, olm: okdWithPatch() }, async (stage) => {
      stage.files.set('catalog.json', okdCatalog)
      await stage.until(minute)
      const waiting = stored(stage, InstallPlans).find(({ spec }) => spec?.approved === false)
      const named = { ...brief, catalogFile: 'catalog.json' }
      const snapshot = await stage.upgrade('1.18.1', { ...named, dryRun: 'client' })
      expect(snapshot).toMatchObject({ code: 3, error: { reason: 'plan-off-path' } })
      const ended = await stage.upgrade('1.18.1', named)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'plan-off-path' } })
      expect(ended.text).toContain('it would install kubevirt-hyperconverged-operator.v1.17.4 and not')
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
      expect(stage.writes()).toEqual([])
      const lines = ended.error?.remedy.map((line) => line.split(/ {3,}/u)[0] ?? '') ?? []
      const drop = lines.filter((line) => / (patch|delete) /u.test(line))
      expect(drop).toEqual([
        `kubectl -n kubevirt-hyperconverged patch subscription.operators.coreos.com hco-operatorhub --type merge -p '{"spec":{"channel":"stable-v1.18"}}'`,
        `kubectl -n kubevirt-hyperconverged delete installplan ${waiting?.metadata.name}`,
      ])
      for (const line of drop)
        await pasteKubectl(line, { cluster: stage.cluster, store: stage.simulated.store })
      expect(await stage.upgrade('1.18.1', named)).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    }))

  test('one that comes while a person thinks is told before anything is borrowed as well', () =>
    play({ ...small, olm: okdWithPatch() }, async (stage) => {
      stage.files.set('catalog.json', okdCatalog)
      for (const { metadata, spec } of stored(stage, InstallPlans))
        if (spec?.approved === false) stage.simulated.store.remove(InstallPlans, metadata)
      const answer = async () => {
        await stage.until(minute)
        return true
      }
      const ended = await stage.upgrade(
        '1.18.1',
        { ...brief, catalogFile: 'catalog.json' },
        { yes: false, answer },
      )
      expect(ended).toMatchObject({ code: 3, error: { reason: 'plan-off-path' } })
      expect(ended.text).toContain('checks before 1.18.1, before the first change')
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(stage.writes().filter(({ resource }) => isOfCluster(resource))).toEqual([])
    }))

  test('one that is on the way is taken first, where no catalog file says otherwise', () =>
    play({ ...small, olm: okdWithPatch() }, async (stage) => {
      await stage.until(minute)
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended.events).toContainEqual(
        expect.objectContaining({
          kind: 'step-done',
          step: expect.objectContaining({ id: 'approve-1.17.4' }),
        }),
      )
    }))

  test('one that was approved by somebody else meanwhile is joined', () =>
    play(okd, async (stage) => {
      const ended = await stage.upgrade('1.18.1', brief, {
        onEvent(event) {
          if (event.kind === 'step-done' && event.step.id === 'install-plan-1.18.1') approveAsSomebody(stage)
        },
      })
      expect(ended.code).toBe(0)
      expect(approvals(stage)).toEqual([])
    }))
})

describe('OLM and its operator in trouble', () => {
  test.each([
    [{ resolutionFailed: 'constraints not satisfiable' }, 'ResolutionFailed: '],
    [{ bundleUnpackFailed: 'no such image' }, 'BundleUnpackFailed: '],
    [
      { catalogNotReady: true },
      'CatalogSource community-operators in namespace openshift-marketplace is TRANSIENT_FAILURE',
    ],
  ])('%j is said, and it ends in 4', (faults, says) =>
    play({ ...okd, faults }, async (stage) => {
      const ended = await stage.upgrade('1.18.1', { ...brief, timeout: '20m' })
      expect(ended.code).toBe(4)
      expect(ended.text).toContain(says)
      expect(ended.text).toContain('kvup workloads resume-updates')
    }),
  )

  test('olm-real 6: the catalog is down while the wanted plan waits: that plan is offered, and takes effect', () =>
    play({ ...small, olm: okdOlm({ channel: 'stable-v1.18' }) }, async (stage) => {
      await stage.until(minute)
      stage.simulated.faults.set({ catalogNotReady: true })
      await stage.until(minute)
      expect(stored(stage, PackageManifests)).toEqual([])
      const other = await stage.upgrade('1.19.0', brief)
      expect(other).toMatchObject({ code: 3, error: { reason: 'target-unknown' } })
      expect(other.text).toContain(
        'CatalogSource community-operators in namespace openshift-marketplace is TRANSIENT_FAILURE',
      )
      expect(await stage.upgrade('1.18.1', brief)).toMatchObject({ code: 0 })
    }))

  test('ocp 2.2: a plan that failed is final', () =>
    play({ ...okd, faults: { planFailed: 'conflict of fields' } }, async (stage) => {
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'plan-failed' } })
      expect(ended.text).toContain('conflict of fields')
      const csv = 'kubevirt-hyperconverged-operator.v1.18.1'
      expect(ended.text).toContain(`deleting the InstallPlan does not help: ${csv} exists already`)
      expect(ended.text).toContain('By the documentation of OLM (untested)')
      expect(ended.text).not.toContain('delete installplan')
    }))
})

function approveAsSomebody(stage: Stage): void {
  const plan = stored(stage, InstallPlans).find(({ spec }) => spec?.approved === false)
  if (!plan) throw new Error('no plan to approve')
  const body = { spec: { approved: true } }
  stage.simulated.store.patch(InstallPlans, plan.metadata, { type: 'merge', body }, { manager: 'kubectl' })
}
