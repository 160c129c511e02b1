import { expect, test } from 'vitest'
import { takeLifecycle } from '../../../../src/lib/openshift/olm-status.ts'
import { answering } from '../platform/asked-reader.ts'
import { csv, installPlan, subscription } from './lifecycle.ts'

const other = subscription({}, [], { name: 'nmstate' })
const offered = (source: string) => ({
  metadata: { name: 'kubevirt-hyperconverged' },
  status: { catalogSource: source },
})
const whole = {
  subscriptions: [other, subscription()],
  clusterextensions: [
    { metadata: { name: 'e' }, spec: { source: { catalog: { packageName: 'kubevirt-hyperconverged' } } } },
    { metadata: { name: 'f' }, spec: { source: { catalog: { packageName: 'nmstate' } } } },
  ],
  installplans: [installPlan('Complete')],
  clusterserviceversions: [csv('4.18.9', { phase: 'Succeeded' })],
  operatorgroups: [{ metadata: { name: 'g' } }],
  operatorconditions: [],
  catalogsources: [{ metadata: { name: 'redhat-operators' } }],
  packagemanifests: [offered('redhat-operators'), offered('mirror')],
}

test('trap 14: the Subscription is found by its package, its namespace by it, and copies of CSVs are not asked for', async () => {
  const { reader, asked } = answering(whole)
  const taken = await takeLifecycle(reader)
  expect(taken.namespace).toBe('openshift-cnv')
  expect(taken.subscriptions).toEqual({ known: true, items: [subscription()] })
  expect(taken.clusterExtensions).toMatchObject({ known: true, items: [{ metadata: { name: 'e' } }] })
  expect(asked).toContain('clusterserviceversions in openshift-cnv with !olm.copiedFrom')
  expect(asked).toContain('subscriptions')
})

test('trap 15: of a package that is in several catalogs only the one that the Subscription names counts', async () => {
  const { packageManifests } = await takeLifecycle(answering(whole).reader)
  expect(packageManifests).toEqual({ known: true, items: [offered('redhat-operators')] })
})

test('OKD’s package as well, and any other that is named', async () => {
  const community = subscription({}, [], { name: 'community-kubevirt-hyperconverged' })
  const { reader } = answering({ ...whole, subscriptions: [other, community] })
  expect((await takeLifecycle(reader)).subscriptions).toEqual({ known: true, items: [community] })
  const named = await takeLifecycle(reader, { packages: ['nmstate'] })
  expect(named.subscriptions).toEqual({ known: true, items: [other] })
})

test('without a Subscription nothing below is asked for; without OLM it is none', async () => {
  const none = answering({ ...whole, subscriptions: [other] })
  const taken = await takeLifecycle(none.reader)
  expect(taken).not.toHaveProperty('namespace')
  expect(none.asked.toSorted()).toEqual(['clusterextensions', 'subscriptions'])
  expect(taken.installPlans.known).toBe(false)
  expect(taken.catalogSources).toEqual({ known: true, items: [] })
  expect((await takeLifecycle(answering({}).reader)).subscriptions).toEqual({ known: true, items: [] })
})

test('what may not be read is unknown; a catalog without the aggregated API is no empty one', async () => {
  const { reader } = answering({ ...whole, installplans: 403, packagemanifests: 404 })
  const taken = await takeLifecycle(reader)
  expect(taken.installPlans).toEqual({ known: false, why: 'installplans: 403' })
  expect(taken.packageManifests).toEqual({ known: false, why: 'packagemanifests: 404' })
  await expect(
    takeLifecycle(answering({ ...whole, clusterserviceversions: 500 }).reader),
  ).rejects.toMatchObject({
    status: 500,
  })
})

test('with the namespace given, and only the parts that are wanted', async () => {
  const { reader, asked } = answering(whole)
  const taken = await takeLifecycle(reader, { namespace: 'here', parts: ['installPlans'] })
  expect(asked.toSorted()).toEqual(['clusterextensions', 'installplans in here', 'subscriptions'])
  expect(taken.csvs.known).toBe(false)
})
