import { expect, test } from 'vitest'
import { Deployments } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { ClusterRoles, CustomResourceDefinitions } from '../../../../src/lib/kube/kinds/extension-kinds.ts'
import {
  ClusterServiceVersions,
  OperatorConditions,
  OperatorGroups,
} from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../../../src/simulator/olm/olm-shape.ts'
import { csvName, hasSucceeded, type Lifecycle, lifecycle, phaseOf } from './lifecycle.ts'

const now = csvName('1.17.3')
const next = csvName('1.18.1')
const offered = () => okdOlm({ channel: 'stable-v1.18' })

async function approveNext(olm: Lifecycle): Promise<void> {
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  await olm.approve(olm.plans()[1])
  await olm.until(
    'its first step is done',
    () => olm.csv(olm.plans()[1]?.spec?.clusterServiceVersionNames?.[0] ?? '') !== undefined,
  )
}

/** The phases that it went through, repetitions left out. */
const phases = (olm: Lifecycle, name: string): string[] => {
  const all = (olm.csv(name)?.status?.conditions ?? []).map(({ phase = '' }) => phase)
  return all.filter((phase, index) => phase !== all[index - 1])
}
const reasons = (olm: Lifecycle, name: string): Set<string> =>
  new Set((olm.csv(name)?.status?.conditions ?? []).map(({ reason = '' }) => reason))

test('ocp 2.4: a CSV goes through Pending, InstallReady, Installing to Succeeded, and the old one is replaced and goes', async () => {
  const olm = await lifecycle(offered())
  const roles = () =>
    olm.store.list(ClusterRoles).items.filter(({ metadata }) => metadata.labels?.['olm.owner'] === now)
  expect(roles()).toHaveLength(9)
  await approveNext(olm)
  await olm.until('the old one is being replaced', () => phaseOf(olm.csv(now)) === 'Replacing')
  expect(olm.csv(now)?.status).toMatchObject({ reason: 'BeingReplaced' })
  await olm.until('the old one goes', () => phaseOf(olm.csv(now)) === 'Deleting')
  expect(phases(olm, next)).toContain('Succeeded')
  await olm.until('the old one is gone', () => olm.csv(now) === undefined)
  await olm.until('its webhooks have certificates', () => hasSucceeded(olm.csv(next)!))
  const once = ['Pending', 'InstallReady', 'Installing', 'Succeeded']
  expect(phases(olm, next)).toEqual([...once, ...once])
  expect(olm.csv(next)?.status?.requirementStatus).toContainEqual(
    expect.objectContaining({ name: 'hyperconvergeds.hco.kubevirt.io', status: 'Present' }),
  )
  expect(roles()).toHaveLength(0)
  const { namespace } = olm.shape
  expect(olm.store.read(OperatorConditions, { name: now, namespace })).toBeUndefined()
  const owners = olm.store
    .list(Deployments, { namespace })
    .items.flatMap(({ metadata }) => metadata.ownerReferences ?? [])
  expect(new Set(owners.map(({ name }) => name))).toEqual(new Set([next]))
  expect(owners).toHaveLength(7)
})

test('ocp 9.10: AtLatestKnown and installedCSV flip when the CSV exists, long before it succeeds', async () => {
  const olm = await lifecycle(offered())
  await olm.until('there is a plan', () => phaseOf(olm.plans()[1]) === 'RequiresApproval')
  await olm.approve(olm.plans()[1])
  await olm.until('it is installed, they say', () => olm.subscription().status?.installedCSV === next)
  expect(olm.subscription().status?.state).toBe('AtLatestKnown')
  expect(phaseOf(olm.csv(next))).not.toBe('Succeeded')
})

test('ocp 9.11: a hold leaves the plan Complete, the new CSV Pending, the old one Replacing and the Subscription AtLatestKnown', async () => {
  const olm = await lifecycle(offered())
  olm.faults.set({ held: 'a backup is under way' })
  await approveNext(olm)
  await olm.clock.sleep(3_600_000)
  expect(olm.csv(next)?.status).toMatchObject({
    phase: 'Pending',
    reason: 'OperatorConditionNotUpgradeable',
    message: 'operator is not upgradeable: the operator is not upgradeable: a backup is under way',
  })
  expect(phaseOf(olm.csv(now))).toBe('Replacing')
  expect(olm.subscription().status).toMatchObject({ state: 'AtLatestKnown', installedCSV: next })
  const { namespace } = olm.shape
  const held = olm.store.read(Deployments, { name: 'hco-operator', namespace })
  expect(held?.metadata.labels?.['olm.owner']).toBe(now)
  olm.faults.set({ held: undefined })
  await olm.until('it goes on', () => phaseOf(olm.csv(next)) === 'Succeeded')
})

test('ocp 1.8, 2.5: what the operator says is copied to the status; an override lets it pass all the same', async () => {
  const olm = await lifecycle(offered())
  const ref = { name: now, namespace: olm.shape.namespace }
  const busy = { type: 'Upgradeable', status: 'False', reason: 'Busy', message: 'busy' } as const
  await olm.writer.mergePatch(OperatorConditions, ref, { spec: { conditions: [busy] } })
  await olm.clock.sleep(1000)
  const told = olm.store.read(OperatorConditions, ref)
  expect(told).toMatchObject({
    status: { conditions: [{ ...busy, observedGeneration: told?.metadata.generation }] },
  })
  await approveNext(olm)
  await olm.clock.sleep(600_000)
  expect(phaseOf(olm.csv(next))).toBe('Pending')
  const pass = { type: 'Upgradeable', status: 'True', reason: 'ByHand', message: '' } as const
  await olm.writer.mergePatch(OperatorConditions, ref, { spec: { overrides: [pass] } })
  await olm.until('it goes on', () => phaseOf(olm.csv(next)) === 'Succeeded')
})

test('ocp 2.4: Failed is not the end: unhealthy for a while, a CSV is Failed and Pending by turns, and then Succeeded', async () => {
  const olm = await lifecycle(offered())
  olm.faults.set({ csvFailsFor: 120_000 })
  await approveNext(olm)
  await olm.until('it fails', () => phaseOf(olm.csv(next)) === 'Failed')
  await olm.until('it fails again', () => reasons(olm, next).has('NeedsReinstall'))
  await olm.clock.sleep(200_000)
  expect(phaseOf(olm.csv(next))).toBe('Succeeded')
  expect(reasons(olm, next)).toContain('ComponentUnhealthy')
  expect(olm.csv(now)).toBeUndefined()
})

test('ocp 2.4: what never comes up is Failed after five minutes, InstallCheckFailed, again and again', async () => {
  const olm = await lifecycle(offered())
  olm.faults.set({ csvFails: true })
  await approveNext(olm)
  const took = await olm.until('it fails', () => phaseOf(olm.csv(next)) === 'Failed')
  expect(took).toBeGreaterThan(300_000)
  expect(olm.csv(next)?.status).toMatchObject({ reason: 'InstallCheckFailed', message: 'install timeout' })
  await olm.clock.sleep(3_600_000)
  expect(phaseOf(olm.csv(next))).not.toBe('Succeeded')
  expect(phaseOf(olm.csv(now))).toBe('Replacing')
  expect(olm.subscription().status?.state).toBe('AtLatestKnown')
})

test('a Deployment of the bundle whose image cannot be pulled keeps its CSV from succeeding, in OLM words', async () => {
  const olm = await lifecycle(offered())
  olm.faults.set({ unpullable: 'ssp-operator:1\\.18' })
  await approveNext(olm)
  await olm.clock.sleep(60_000)
  expect(olm.csv(next)?.status).toMatchObject({
    phase: 'Installing',
    reason: 'InstallWaiting',
    message: expect.stringContaining('waiting for deployment ssp-operator to become ready') as string,
  })
  olm.faults.set({ unpullable: undefined })
  await olm.until('it goes on', () => phaseOf(olm.csv(next)) === 'Succeeded')
})

test('ocp 2.6: a second OperatorGroup fails the CSV; taken away, it recovers', async () => {
  const olm = await lifecycle(okdOlm())
  const { namespace } = olm.shape
  const { apiVersion, kind } = OperatorGroups
  await olm.writer.create(OperatorGroups, { apiVersion, kind, metadata: { name: 'second', namespace } })
  await olm.until('it fails', () => phaseOf(olm.csv(now)) === 'Failed')
  expect(olm.csv(now)?.status?.reason).toBe('TooManyOperatorGroups')
  await olm.writer.delete(OperatorGroups, { name: 'second', namespace })
  await olm.until('it recovers', () => phaseOf(olm.csv(now)) === 'Succeeded')
})

test('ocp 2.7: the CSV is copied to every namespace, marked, and the copies follow the original', async () => {
  const olm = await lifecycle(offered())
  const copies = (name: string) =>
    olm.store
      .list(ClusterServiceVersions, { labels: 'olm.copiedFrom' })
      .items.filter(({ metadata }) => metadata.name === name)
      .map(({ metadata, ...rest }) => [
        metadata.namespace,
        metadata.labels?.['olm.copiedFrom'],
        phaseOf({ metadata, ...rest }),
      ])
  const { namespace, sourceNamespace } = olm.shape
  expect(new Set(copies(now))).toEqual(
    new Set([
      ['default', namespace, 'Succeeded'],
      [sourceNamespace, namespace, 'Succeeded'],
    ]),
  )
  await approveNext(olm)
  await olm.until('the old one is gone', () => olm.csv(now) === undefined)
  await olm.clock.sleep(2000)
  expect(copies(now)).toEqual([])
  expect(copies(next)).toHaveLength(2)
})

test('ocp 1.9: the CRD is replaced without its conversion, and somebody else has to bring it back', async () => {
  const olm = await lifecycle(okdOlm({ channel: 'stable-v1.19', installed: '1.18.1' }))
  const definition = () =>
    olm.store.read(CustomResourceDefinitions, { name: 'hyperconvergeds.hco.kubevirt.io' })
  expect(definition()).toMatchObject({ spec: { conversion: { strategy: 'Webhook' } } })
  await approveNext(olm)
  await olm.until('it is complete', () => phaseOf(olm.plans()[1]) === 'Complete')
  expect(definition()).toMatchObject({
    spec: {
      conversion: { strategy: 'None' },
      versions: [
        { name: 'v1', storage: true },
        { name: 'v1beta1', storage: false },
      ],
    },
  })
})
