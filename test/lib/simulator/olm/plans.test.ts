import { expect, test } from 'vitest'
import { type ConfigMap, ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { ClusterRoles } from '../../../../src/lib/kube/kinds/extension-kinds.ts'
import { CatalogSources, InstallPlans, Subscriptions } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { okdOlm, type OlmShape } from '../../../../src/simulator/olm/olm-shape.ts'
import { csvName, lifecycle, phaseOf } from './lifecycle.ts'

/** From 1.17.3 on there is 1.18.1 at once. */
const offered = (more: Partial<OlmShape> = {}): OlmShape => okdOlm({ channel: 'stable-v1.18', ...more })

/** All releases in one channel. */
function oneChannel(more: Partial<OlmShape> = {}): OlmShape {
  const all = new Map(okdOlm().channels.flatMap(({ entries }) => entries.map((e) => [e.name, e])))
  return okdOlm({ channel: 'all', channels: [{ name: 'all', entries: [...all.values()] }], ...more })
}

const other = (approval: 'Manual' | 'Automatic') => ({
  package: 'lvms-operator',
  channel: 'stable',
  approval,
  installed: '4.18.1',
  entries: [
    { name: 'lvms-operator.v4.18.1', version: '4.18.1' },
    { name: 'lvms-operator.v4.18.2', version: '4.18.2', replaces: 'lvms-operator.v4.18.1' },
  ],
})

test('ocp 2.3 #1, #2: one Manual Subscription makes the plan Manual, and the plan has the updates of all', async () => {
  const olm = await lifecycle(offered({ others: [other('Automatic')] }))
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  expect(olm.plans()[1]?.spec).toMatchObject({
    approval: 'Manual',
    approved: false,
    clusterServiceVersionNames: [csvName('1.18.1'), 'lvms-operator.v4.18.2'],
  })
  await olm.approve(olm.plans()[1])
  await olm.until('both are there', () =>
    [csvName('1.18.1'), 'lvms-operator.v4.18.2'].every((name) => phaseOf(olm.csv(name)) === 'Succeeded'),
  )
})

test('ocp 2.3 #7: every Subscription of the namespace owns the plan, none as its controller', async () => {
  const olm = await lifecycle(offered({ others: [other('Manual')] }))
  await olm.until('there is a plan', () => olm.plans().length === 2)
  expect(olm.plans()[1]?.metadata.ownerReferences?.map(({ name, controller }) => [name, controller])).toEqual(
    [
      ['hco-operatorhub', false],
      ['lvms-operator', false],
    ],
  )
})

test('ocp 2.3 #3: a pending plan blocks newer ones; deleted, OLM plans anew for what the channel says now', async () => {
  const olm = await lifecycle(offered({ installed: '1.17.3' }))
  await olm.until('there is a plan', () => olm.subscription().status?.state === 'UpgradePending')
  const { metadata } = olm.subscription()
  await olm.writer.mergePatch(Subscriptions, metadata, { spec: { channel: 'stable-v1.17' } })
  await olm.clock.sleep(3_600_000)
  expect(olm.plans().map(({ spec }) => spec?.clusterServiceVersionNames)).toEqual([
    [csvName('1.17.3')],
    [csvName('1.18.1')],
  ])
  await olm.writer.delete(InstallPlans, olm.plans()[1]!.metadata)
  await olm.clock.sleep(60_000)
  expect(olm.plans()).toHaveLength(1)
  const { status = {} } = olm.subscription()
  expect([status.state, status.currentCSV, status.installPlanRef]).toEqual([undefined, undefined, undefined])
  expect(status.installedCSV).toBe(csvName('1.17.3'))
  await olm.writer.mergePatch(Subscriptions, metadata, { spec: { channel: 'stable-v1.18' } })
  await olm.until('there is another', () => olm.plans().length === 2)
  expect(olm.plans()[1]?.spec?.clusterServiceVersionNames).toEqual([csvName('1.18.1')])
})

test('ocp 2.3 #4: switched to Automatic, a plan that waits waits on', async () => {
  const olm = await lifecycle(offered())
  await olm.until('there is a plan', () => olm.subscription().status?.state === 'UpgradePending')
  const { metadata } = olm.subscription()
  await olm.writer.mergePatch(Subscriptions, metadata, { spec: { installPlanApproval: 'Automatic' } })
  await olm.clock.sleep(3_600_000)
  expect(olm.plans()).toHaveLength(2)
  expect(olm.plans()[1]).toMatchObject({
    spec: { approval: 'Manual', approved: false },
    status: { phase: 'RequiresApproval' },
  })
})

test('ocp 2.3 #5: approved before it has a phase, a plan stays without one and a second is made', async () => {
  const olm = await lifecycle(okdOlm())
  olm.faults.set({ planStatusAfter: 5000 })
  await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, {
    spec: { channel: 'stable-v1.18' },
  })
  await olm.until('there is a plan', () => olm.plans().length === 2)
  await olm.approve(olm.plans()[1])
  await olm.until('there is another', () => phaseOf(olm.plans()[2]) !== '')
  expect(phaseOf(olm.plans()[1])).toBe('')
  expect(olm.plans()[2]).toMatchObject({
    spec: { approved: false, clusterServiceVersionNames: [csvName('1.18.1')] },
    status: { phase: 'RequiresApproval' },
  })
  await olm.until('it is referenced', () => olm.subscription().status?.state === 'UpgradePending')
  expect(olm.subscription().status?.installPlanRef?.name).toBe(olm.plans()[2]?.metadata.name)
})

test('ocp 2.3 #9: Automatic walks hop after hop by itself, a plan for each; five plans are kept (2.2)', async () => {
  const olm = await lifecycle(oneChannel({ installed: '1.15.2', approval: 'Automatic' }))
  await olm.until('it is at the head', () => phaseOf(olm.csv(csvName('1.19.0'))) === 'Succeeded')
  await olm.clock.sleep(60_000)
  expect(olm.plans().map(({ spec }) => spec?.clusterServiceVersionNames?.[0])).toEqual(
    ['1.15.2', '1.16.0', '1.17.3', '1.18.1', '1.19.0'].map((version) => csvName(version)),
  )
  expect(olm.plans().every(({ spec }) => spec?.approved)).toBe(true)
  await olm.writer.create(InstallPlans, {
    ...olm.plans()[4]!,
    metadata: { name: 'install-later', namespace: olm.shape.namespace },
    spec: { generation: 9 },
  })
  await olm.until('the oldest is gone', () => olm.plans().length === 5)
  expect(olm.plans()[0]?.spec?.clusterServiceVersionNames).toEqual([csvName('1.16.0')])
})

test('ocp 2.2: a plan that cannot be executed tries for a minute, is Failed then, and no other follows', async () => {
  const olm = await lifecycle(offered())
  const refused = `error validating existing CRs against new CRD's schema for "hyperconvergeds.hco.kubevirt.io"`
  olm.faults.set({ planFailed: refused })
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  await olm.approve(olm.plans()[1])
  await olm.until('it says so', () => olm.plans()[1]?.status?.message !== undefined)
  expect(olm.plans()[1]?.status).toMatchObject({
    phase: 'Installing',
    message: `retrying execution due to error: ${refused}`,
  })
  const took = await olm.until('it failed', () => phaseOf(olm.plans()[1]) === 'Failed')
  expect(took).toBeGreaterThan(50_000)
  olm.faults.set({ planFailed: undefined })
  await olm.clock.sleep(3_600_000)
  expect(olm.plans()).toHaveLength(2)
  expect(phaseOf(olm.plans()[1])).toBe('Failed')
  expect(condition(olm.plans()[1]!, 'Installed')).toMatchObject({ status: 'False', message: refused })
  expect(condition(olm.subscription(), 'InstallPlanFailed')).toMatchObject({ status: 'True' })
})

test('olm-real 4: the CSV of a plan that failed exists already, so that no other plan follows when it is deleted', async () => {
  const olm = await lifecycle(offered())
  olm.faults.set({ planFailed: 'conflict of fields' })
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  await olm.approve(olm.plans()[1])
  await olm.until('it failed', () => phaseOf(olm.plans()[1]) === 'Failed')
  const steps = olm.plans()[1]?.status?.plan ?? []
  const of = (kind: string) =>
    steps.filter(({ resource }) => resource?.kind === kind).map(({ status }) => status)
  expect([of('ClusterServiceVersion'), new Set(of('ClusterRole'))]).toEqual([
    ['Created'],
    new Set(['Unknown']),
  ])
  const stands = () => [
    phaseOf(olm.csv(csvName('1.17.3'))),
    olm.csv(csvName('1.18.1'))?.status?.reason,
    olm.subscription().status?.state,
    olm.subscription().status?.installedCSV,
  ]
  expect(stands()).toEqual(['Replacing', 'RequirementsNotMet', 'AtLatestKnown', csvName('1.18.1')])
  olm.faults.set({ planFailed: undefined })
  await olm.writer.delete(InstallPlans, olm.plans()[1]!.metadata)
  await olm.clock.sleep(3_600_000)
  expect(olm.plans()).toHaveLength(1)
  expect(condition(olm.subscription(), 'InstallPlanMissing')).toMatchObject({ status: 'True' })
  expect(stands()).toEqual(['Replacing', 'RequirementsNotMet', 'AtLatestKnown', csvName('1.18.1')])
})

test('ocp 2.2: a step says where its manifest is instead of what it is', async () => {
  const olm = await lifecycle(offered())
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  const [first] = olm.plans()[1]?.status?.plan ?? []
  const reference = JSON.parse(first?.resource?.manifest ?? '{}') as { name: string; namespace: string }
  expect(reference).toMatchObject({
    kind: 'ConfigMap',
    catalogSourceName: 'community-operators',
    replaces: csvName('1.17.3'),
  })
  const { name, namespace } = reference
  const found = await olm.reader.get(ConfigMaps, { name, namespace })
  expect(found.is).toBe('object')
  const { data, binaryData = {} } = (found as { object: ConfigMap }).object
  expect(data).toBeUndefined()
  const [packed = ''] = Object.values(binaryData)
  expect(Buffer.from(packed, 'base64').toString()).toMatch(/^H4sI/)
  await olm.approve(olm.plans()[1])
  await olm.until('it is there', () => phaseOf(olm.csv(csvName('1.18.1'))) === 'Succeeded')
})

test('objects may stand in the steps themselves, as they did before bundles were images', async () => {
  const olm = await lifecycle(offered({ manifests: 'inline' }))
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  const [first] = olm.plans()[1]?.status?.plan ?? []
  expect(JSON.parse(first?.resource?.manifest ?? '{}')).toMatchObject({ kind: 'ClusterServiceVersion' })
  await olm.approve(olm.plans()[1])
  await olm.until('it is there', () => phaseOf(olm.csv(csvName('1.18.1'))) === 'Succeeded')
})

test('ocp 2.2: its steps name CSV, CRDs and roles, the roles by a hash of the CSV; each says what became of it', async () => {
  const olm = await lifecycle(offered())
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  const steps = () => olm.plans()[1]?.status?.plan ?? []
  const of = (kind: string) =>
    steps().flatMap(({ resource }) => (resource?.kind === kind ? [resource.name ?? ''] : []))
  expect(of('ClusterServiceVersion')).toEqual([csvName('1.18.1')])
  expect(of('CustomResourceDefinition')).toContain('hyperconvergeds.hco.kubevirt.io')
  expect(of('CustomResourceDefinition')).toContain('kubevirts.kubevirt.io')
  const hashed = /^kubevirt-hyperconverged-(?:o?-)[0-9A-Za-z]{36,38}$/
  expect(of('ClusterRole').filter((name) => !hashed.test(name) || name.length !== 63)).toEqual([])
  const owners = olm.store.list(ClusterRoles).items.map(({ metadata }) => metadata.labels?.['olm.owner'])
  expect(new Set(owners)).toEqual(new Set([csvName('1.17.3')]))
  expect(new Set(steps().map(({ status }) => status))).toEqual(new Set(['Unknown']))
  await olm.approve(olm.plans()[1])
  await olm.until('it is complete', () => phaseOf(olm.plans()[1]) === 'Complete')
  const became = (kind: string) =>
    steps().flatMap(({ resource, status }) => (resource?.kind === kind ? [status] : []))
  const definitions = became('CustomResourceDefinition')
  expect(definitions.filter((one) => one === 'Created')).toHaveLength(2)
  expect(definitions.filter((one) => one === 'Present')).toHaveLength(8)
  expect(new Set(became('ClusterRole'))).toEqual(new Set(['Created']))
  expect(condition(olm.plans()[1]!, 'Installed')?.status).toBe('True')
})

test('a Subscription shows what its plan waits for', async () => {
  const olm = await lifecycle(offered())
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  await olm.clock.sleep(1000)
  expect(condition(olm.subscription(), 'InstallPlanPending')).toMatchObject({
    status: 'True',
    reason: 'RequiresApproval',
  })
  await olm.approve(olm.plans()[1])
  await olm.until('it is complete', () => phaseOf(olm.plans()[1]) === 'Complete')
  await olm.clock.sleep(1000)
  expect(condition(olm.subscription(), 'InstallPlanPending')).toBeUndefined()
  expect(olm.store.list(CatalogSources).items).toHaveLength(1)
})
