import { expect, test } from 'vitest'
import { Jobs, Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { ClusterOperators, ClusterVersions } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import {
  CatalogSources,
  ClusterServiceVersions,
  InstallPlans,
  PackageManifests,
  Subscriptions,
} from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { condition, type KubeObject } from '../../../../src/lib/kube/object.ts'
import { custom } from '../../../../src/simulator/api/kinds/sim-kind.ts'
import {
  ocpOlm,
  okdOlm,
  okdStableOlm,
  type OlmShape,
  strandingOlm,
} from '../../../../src/simulator/olm/olm-shape.ts'
import { nextIn, parseCatalog } from '../../../../src/lib/releases/catalog-path.ts'
import { contentOf, nextEntry, servedCatalog } from '../../../../src/simulator/olm/catalog-content.ts'
import { csvName, type Lifecycle, lifecycle, phaseOf } from './lifecycle.ts'

/** A platform that has been at a version for long. */
function platform(version: string): KubeObject[] {
  const { apiVersion } = ClusterVersions
  const operator = (name: string) => ({
    apiVersion,
    kind: 'ClusterOperator',
    metadata: { name },
    status: { versions: [{ name: 'operator', version }], conditions: [] },
  })
  const status = { desired: { version }, history: [{ state: 'Completed', version }] }
  return [
    { apiVersion, kind: 'ClusterVersion', metadata: { name: 'version' }, status } as KubeObject,
    operator('marketplace'),
    operator('operator-lifecycle-manager'),
  ]
}

const onPlatform = (shape: OlmShape, version: string): Promise<Lifecycle> =>
  lifecycle(shape, {
    kinds: [custom(ClusterVersions), custom(ClusterOperators)],
    objects: platform(version),
  })

/** As the marketplace operator says it, in the middle of an update. */
async function platformAt(olm: Lifecycle, version: string): Promise<void> {
  const versions = [{ name: 'operator', version }]
  await olm.writer.mergePatch(ClusterOperators, { name: 'marketplace' }, { status: { versions } }, 'status')
}

const source = { name: 'redhat-operators', namespace: 'openshift-marketplace' }
const stateOf = (olm: Lifecycle): string | undefined =>
  (
    olm.store.read(CatalogSources, source) as {
      status?: { connectionState?: { lastObservedState?: string } }
    }
  ).status?.connectionState?.lastObservedState
const versionsOf = (olm: Lifecycle): string[] => {
  const found = olm.store.read(PackageManifests, {
    name: 'kubevirt-hyperconverged',
    namespace: 'openshift-cnv',
  })
  const [channel] =
    (found as { status?: { channels?: { entries?: { version?: string }[] }[] } }).status?.channels ?? []
  return (channel?.entries ?? []).map(({ version = '' }) => version)
}
const catalogPods = (olm: Lifecycle) =>
  olm.store
    .list(Pods, { namespace: 'openshift-marketplace', labels: 'olm.catalogSource' })
    .items.map(
      (pod) => (pod as { spec?: { containers?: { image?: string }[] } }).spec?.containers?.[0]?.image,
    )

test('ocp 2.6: the releases of the next minor are there only once a new catalog pod of it answers', async () => {
  const olm = await onPlatform(ocpOlm(), '4.18.21')
  expect(versionsOf(olm)).toEqual(['4.18.9', '4.18.13'])
  expect(catalogPods(olm)).toEqual(['registry.redhat.io/redhat/redhat-operator-index:v4.18'])
  await olm.clock.sleep(600_000)
  expect(olm.plans()).toHaveLength(1)
  await platformAt(olm, '4.19.9')
  await olm.until('the old catalog is gone', () => stateOf(olm) === 'CONNECTING')
  expect(olm.plans()).toHaveLength(1)
  await olm.until('it is ready', () => stateOf(olm) === 'READY')
  expect(catalogPods(olm)).toEqual(['registry.redhat.io/redhat/redhat-operator-index:v4.19'])
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  expect(olm.plans()[1]?.spec?.clusterServiceVersionNames).toEqual([csvName('4.19.5')])
  expect(versionsOf(olm)).toEqual(['4.18.9', '4.18.13', '4.19.5', '4.19.8'])
})

test('ocp 9.15: a PackageManifest lists versions and no edges, not even of the head', async () => {
  const olm = await onPlatform(ocpOlm(), '4.20.1')
  const found = olm.store.read(PackageManifests, {
    name: 'kubevirt-hyperconverged',
    namespace: 'openshift-cnv',
  })
  expect(found).toMatchObject({
    metadata: { labels: { catalog: 'redhat-operators' } },
    status: {
      packageName: 'kubevirt-hyperconverged',
      defaultChannel: 'stable',
      channels: [{ name: 'stable', currentCSV: csvName('4.20.1'), currentCSVDesc: { version: '4.20.1' } }],
    },
  })
  expect(JSON.stringify(found)).not.toContain('replaces')
})

/** What each channel shows of its releases, by channel. */
function shownBy(olm: Lifecycle, name: string): Record<string, string[]> {
  const found = olm.store.read(PackageManifests, { name, namespace: olm.shape.namespace })
  const { channels = [] } = (
    found as { status?: { channels?: { name: string; entries: { version: string }[] }[] } }
  ).status ?? { channels: [] }
  return Object.fromEntries(
    channels.map((channel) => [channel.name, channel.entries.map(({ version }) => version)]),
  )
}

test('ocp 1.1: in a catalog with a channel for each minor the release before is no entry, and yet it is replaced', async () => {
  const olm = await lifecycle(okdOlm())
  expect(shownBy(olm, okdOlm().package)).toMatchObject({
    'stable-v1.17': ['1.17.3'],
    'stable-v1.18': ['1.18.1'],
  })
  await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, {
    spec: { channel: 'stable-v1.18' },
  })
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  expect(olm.plans()[1]?.spec?.clusterServiceVersionNames).toEqual([csvName('1.18.1')])
})

test('community-operators has one channel, in which a minor appears with that of the platform', async () => {
  const at421 = await onPlatform(okdStableOlm(), '4.21.0-okd-scos.3')
  expect(shownBy(at421, okdStableOlm().package)).toEqual({ stable: ['1.15.2', '1.16.0', '1.17.3'] })
  const at422 = await onPlatform(okdStableOlm(), '4.22.0-okd-scos.3')
  expect(shownBy(at422, okdStableOlm().package)['stable']).toContain('1.18.1')
  expect(catalogPods(at422)).toEqual(['registry.redhat.io/redhat/community-operator-index:v4.22'])
})

test.each([
  ['OpenShift', ocpOlm(), '4.20'],
  ['a channel for each minor', okdOlm(), undefined],
  ['community-operators', okdStableOlm(), '4.22'],
] as const)('what is read of the catalog file leads where OLM goes: %s', (_, shape, minor) => {
  const [pack] = parseCatalog(servedCatalog(shape, minor), 'catalog.yaml')
  const [content] = contentOf(shape, minor)
  const all = shape.channels.flatMap(({ entries }) => entries)
  const paths = (next: (channel: string, from: (typeof all)[number]) => string | undefined) =>
    (content?.channels ?? []).flatMap(({ name }) =>
      all.map((from) => `${from.version} in ${name}: ${next(name, from) ?? 'nothing'}`),
    )
  const byOlm = paths((name, from) => {
    const channel = content?.channels.find((one) => one.name === name)
    return nextEntry(channel?.entries ?? [], from)?.name
  })
  const byFile = paths((name, { name: csv, version }) => {
    const channel = pack?.channels.find((one) => one.name === name)
    return channel && nextIn(channel, { csv, version })?.name
  })
  expect(byOlm.filter((path) => !path.endsWith('nothing')).length).toBeGreaterThan(2)
  expect(byFile).toEqual(byOlm)
})

/** Approves whatever comes until nothing comes any more; the versions in their order. */
async function walk(olm: Lifecycle): Promise<string[]> {
  const walked: string[] = []
  for (let count = olm.plans().length; ; count++) {
    await olm.clock.sleep(120_000)
    const plan = olm.plans().find(({ spec }) => spec?.approved === false)
    if (plan === undefined || count > 9) return walked
    const [name = ''] = plan.spec?.clusterServiceVersionNames ?? []
    await olm.until('it waits', () => phaseOf(olm.plans().at(-1)) === 'RequiresApproval')
    await olm.approve(plan)
    await olm.until('it is there', () => phaseOf(olm.csv(name)) === 'Succeeded')
    walked.push(olm.csv(name)?.spec?.version ?? '')
  }
}

test('a window from 4.18 to 4.20 takes the operator hop by hop', async () => {
  const olm = await onPlatform(ocpOlm({ installed: '4.18.9' }), '4.18.21')
  expect(await walk(olm)).toEqual(['4.18.13'])
  await platformAt(olm, '4.19.9')
  expect(await walk(olm)).toEqual(['4.19.5', '4.19.8'])
  await platformAt(olm, '4.20.1')
  expect(await walk(olm)).toEqual(['4.20.1'])
})

test('ocp 9.15: who takes the newest release of the odd minor is stranded where it has no edge', async () => {
  const olm = await onPlatform(strandingOlm(), '4.19.9')
  expect(await walk(olm)).toEqual(['4.19.5', '4.19.8'])
  await platformAt(olm, '4.20.1')
  expect(await walk(olm)).toEqual([])
  expect(versionsOf(olm)).toEqual(['4.18.9', '4.18.13', '4.19.5', '4.20.1'])
  expect(olm.subscription().status?.state).toBe('AtLatestKnown')
})

test('ocp 2.3 #3: a pending plan stays with an older release than the catalog has now, until it is deleted', async () => {
  const olm = await onPlatform(ocpOlm({ installed: '4.18.9' }), '4.18.21')
  await olm.until('there is a plan', () => olm.subscription().status?.state === 'UpgradePending')
  await platformAt(olm, '4.19.9')
  await olm.until('the new catalog is read', () => versionsOf(olm).includes('4.19.5'))
  await olm.clock.sleep(600_000)
  expect(olm.plans().at(-1)?.spec?.clusterServiceVersionNames).toEqual([csvName('4.18.13')])
  await olm.writer.delete(InstallPlans, olm.plans().at(-1)!.metadata)
  await olm.until('it is forgotten', () => olm.subscription().status?.installPlanRef === undefined)
  await olm.until('there is another', () => phaseOf(olm.plans().at(-1)) === 'RequiresApproval')
  expect(olm.plans().at(-1)?.spec?.clusterServiceVersionNames).toEqual([csvName('4.19.5')])
  await olm.clock.sleep(1000)
  expect(condition(olm.subscription(), 'InstallPlanMissing')).toBeUndefined()
})

test('ocp 2.8: an operator that bounds the platform is told of by a ClusterOperator until it is replaced', async () => {
  const olm = await onPlatform(ocpOlm(), '4.18.21')
  const said = () => {
    const found = olm.store.read(ClusterOperators, { name: 'operator-lifecycle-manager' })
    return condition(found as Parameters<typeof condition>[0], 'Upgradeable')
  }
  expect(said()).toMatchObject({ status: 'True' })
  const desired = { version: '4.19.9' }
  await olm.writer.mergePatch(ClusterVersions, { name: 'version' }, { status: { desired } }, 'status')
  await olm.clock.sleep(1000)
  expect(said()).toMatchObject({
    status: 'False',
    reason: 'IncompatibleOperatorsInstalled',
    message: expect.stringContaining(`openshift-cnv/${csvName('4.18.13')} is 4.19`) as string,
  })
  await platformAt(olm, '4.19.9')
  expect(await walk(olm)).toContain('4.19.5')
  await olm.until('the bound is gone', () => said()?.status === 'True')
})

test('olm-real 6: of a catalog that does not answer its connection tells alone, and its packages are not shown', async () => {
  const olm = await onPlatform(ocpOlm(), '4.18.21')
  olm.faults.set({ catalogNotReady: true })
  await olm.until('it fails', () => stateOf(olm) === 'TRANSIENT_FAILURE')
  await olm.until('its packages are gone', () => olm.store.list(PackageManifests).items.length === 0)
  await olm.clock.sleep(600_000)
  expect(condition(olm.subscription(), 'ResolutionFailed')).toBeUndefined()
  expect(condition(olm.subscription(), 'CatalogSourcesUnhealthy')).toMatchObject({ status: 'False' })
  expect(olm.subscription().status?.catalogHealth?.[0]?.healthy).toBe(true)
  olm.faults.set({ catalogNotReady: undefined })
  await olm.until('it is well', () => stateOf(olm) === 'READY')
  await olm.until('its packages are shown', () => olm.store.list(PackageManifests).items.length > 0)
})

test('ocp 2.1: what cannot be resolved is said of every Subscription in the namespace, and nothing is planned', async () => {
  const others = [
    {
      package: 'lvms',
      channel: 'x',
      approval: 'Automatic',
      installed: '1.0.0',
      entries: [{ name: 'lvms.v1.0.0', version: '1.0.0' }],
    },
  ] as const
  const olm = await lifecycle(okdOlm({ others }))
  await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, { spec: { channel: 'stable-v9' } })
  const both = () => olm.store.list(Subscriptions).items as ReturnType<Lifecycle['subscription']>[]
  await olm.until('it is told', () => both().every((one) => condition(one, 'ResolutionFailed') !== undefined))
  for (const one of both())
    expect(condition(one, 'ResolutionFailed')).toMatchObject({
      reason: 'ConstraintsNotSatisfiable',
      message: expect.stringContaining('no operators found in channel stable-v9 of package') as string,
    })
  expect(olm.plans()).toHaveLength(1)
  await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, {
    spec: { channel: 'stable-v1.18' },
  })
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  expect(both().map((one) => condition(one, 'ResolutionFailed'))).toEqual([undefined, undefined])
})

test('ocp 2.1: a fault of the resolver is told in its words, and passes', async () => {
  const olm = await lifecycle(okdOlm({ channel: 'stable-v1.18', installed: '1.17.3' }))
  olm.faults.set({ resolutionFailed: 'constraints not satisfiable: @existing/openshift-cnv and another' })
  await olm.writer
    .delete(Subscriptions, { name: 'none', namespace: olm.shape.namespace })
    .catch(() => undefined)
  await olm.until('it is told', () => condition(olm.subscription(), 'ResolutionFailed') !== undefined)
  expect(condition(olm.subscription(), 'ResolutionFailed')?.message).toContain('@existing/openshift-cnv')
  olm.faults.set({ resolutionFailed: undefined })
  await olm.until('it is planned', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
})

test('ocp 7 #8: a Subscription that is made anew finds a CSV that nobody references', async () => {
  const olm = await lifecycle(okdOlm())
  const { metadata, spec = {}, apiVersion, kind } = olm.subscription()
  const { name, namespace = '' } = metadata
  await olm.writer.delete(Subscriptions, metadata)
  await olm.writer.create(Subscriptions, { apiVersion, kind, metadata: { name, namespace }, spec })
  await olm.until('it is told', () => condition(olm.subscription(), 'ResolutionFailed') !== undefined)
  expect(condition(olm.subscription(), 'ResolutionFailed')?.message).toContain(
    `clusterserviceversion ${csvName('1.17.3')} exists and is not referenced by a subscription`,
  )
  await olm.writer.delete(ClusterServiceVersions, { name: csvName('1.17.3'), namespace })
  await olm.until('it is planned', () => phaseOf(olm.plans().at(-1)) === 'RequiresApproval')
})

test('ocp 7 #4: a bundle that is not unpacked in ten minutes is given up; its Job goes after five minutes, and at its next look OLM tries again', async () => {
  const olm = await lifecycle(okdOlm())
  olm.faults.set({ bundleUnpackFailed: 'pull access denied' })
  await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, {
    spec: { channel: 'stable-v1.18' },
  })
  await olm.until('it is told', () => condition(olm.subscription(), 'BundleUnpacking') !== undefined)
  const took = await olm.until(
    'it failed',
    () => condition(olm.subscription(), 'BundleUnpackFailed') !== undefined,
  )
  expect(took).toBeGreaterThan(590_000)
  expect(condition(olm.subscription(), 'BundleUnpackFailed')?.message).toMatch(
    /^bundle unpacking failed\. Reason: DeadlineExceeded, and Message: .*pull access denied$/,
  )
  expect(olm.store.list(Jobs, { namespace: olm.shape.sourceNamespace }).items).toHaveLength(1)
  olm.faults.set({ bundleUnpackFailed: undefined })
  await olm.clock.sleep(310_000)
  expect(olm.store.list(Jobs, { namespace: olm.shape.sourceNamespace }).items).toHaveLength(0)
  expect(olm.plans()).toHaveLength(1)
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  await olm.clock.sleep(1000)
  // OLM leaves it beside the plan.
  expect(condition(olm.subscription(), 'BundleUnpackFailed')?.status).toBe('True')
})
