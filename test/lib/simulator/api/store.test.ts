import { expect, test } from 'vitest'
import { CustomResourceDefinitions } from '../../../../src/lib/kube/kinds/extension-kinds.ts'
import { type ConfigMap, ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../../../../src/lib/kube/object.ts'
import { ApiFaults, withFaults } from '../../../scenario/api-faults.ts'
import { plainKinds } from '../../../../src/simulator/api/kinds/built-in-kinds.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { seed, type Store } from '../../../../src/simulator/api/store.ts'
import { createMap, freshStore, map, namespace, refused } from './fixture.ts'

test('a watch resumes after the revision that it names', () => {
  const store = freshStore()
  const { metadata } = createMap(store, 'one')
  createMap(store, 'two')
  const observed: string[] = []
  const stop = store.watch(
    ConfigMaps,
    (e) => observed.push(`${e.type} ${e.object.metadata.name}`),
    Number(metadata.resourceVersion),
  )
  store.remove(ConfigMaps, { name: 'one', namespace })
  stop()
  createMap(store, 'three')
  expect(observed).toEqual(['ADDED two', 'DELETED one'])
})

test('a revision that is forgotten is 410', () => {
  const store = freshStore({ history: 2 })
  const first = Number(createMap(store, 'first').metadata.resourceVersion)
  for (const name of ['two', 'three', 'four']) createMap(store, name)
  expect(refused(() => store.watch(ConfigMaps, () => undefined, first))).toMatchObject({
    status: 410,
    statusReason: 'Expired',
    message: expect.stringMatching(/^too old resource version: \d+ \(\d+\)$/),
  })
})

test('pages are of one moment', () => {
  const store = freshStore()
  for (const name of ['a', 'b', 'c', 'd']) createMap(store, name)
  const names = (page: ReturnType<typeof store.list>) => page.items.map(({ metadata }) => metadata.name)
  const first = store.list(ConfigMaps, { limit: 2 })
  expect([names(first), first.remaining]).toEqual([['a', 'b'], 2])
  store.remove(ConfigMaps, { name: 'c', namespace })
  const second = store.list(ConfigMaps, { limit: 2, continue: first.continue })
  expect([names(second), second.resourceVersion]).toEqual([['c', 'd'], first.resourceVersion])
})

const ref = { name: 'x', namespace }

function apply(store: Store, data: Record<string, string>, manager: string, force = false): ConfigMap {
  const wanted: ConfigMap = { ...map('x'), data }
  return store.patch(ConfigMaps, ref, { type: 'apply', body: wanted, force }, { manager })
}

test('two conflicts are listed by manager, with the causes in the details', () => {
  const store = freshStore()
  apply(store, { a: '1', b: '1' }, 'helm')
  const error = refused(() => apply(store, { a: '2', b: '2' }, 'kvup'))
  expect(error.message).toBe('Apply failed with 2 conflicts: conflicts with "helm":\n- .data.a\n- .data.b')
  expect(error).toMatchObject({
    body: {
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "helm"', field: '.data.a' }, {}],
      },
    },
  })
})

test('status in an apply to the main resource is neither kept nor owned', () => {
  const store = freshStore()
  const body = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: ref,
    spec: { imageTag: 'v1' },
    status: { phase: 'Deployed' },
  }
  const made = store.patch(KubeVirts, ref, { type: 'apply', body, force: false }, { manager: 'kvup' })
  expect(made).not.toHaveProperty('status')
  expect(made.metadata.managedFields).toMatchObject([
    { manager: 'kvup', fieldsV1: { 'f:spec': { 'f:imageTag': {} } } },
  ])
  expect(JSON.stringify(made.metadata.managedFields)).not.toContain('f:status')
})

test('what it gives out cannot be changed', () => {
  const store = freshStore()
  createMap(store, 'frozen', { labels: { a: 'b' } })
  const found = store.read(ConfigMaps, { name: 'frozen', namespace })
  expect(() => Object.assign(found?.metadata.labels ?? {}, { a: 'c' })).toThrow(TypeError)
})

const kubevirt = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'kubevirt', namespace } }
const tagged = () => {
  const store = freshStore()
  seed(store, [{ ...kubevirt, spec: { imageTag: 'v1' } } as object as KubeObject])
  return { store, ...storeCluster(store) }
}

test('a reference out of an object says more than where it is: only name and namespace are taken', async () => {
  const { store, reader, writer } = tagged()
  const owner = {
    ...kubevirt.metadata,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    verb: 'list',
    subresource: 'status',
    dryRun: true,
  }
  expect(await reader.get(KubeVirts, owner)).toMatchObject({ is: 'object', object: { kind: 'KubeVirt' } })
  const change = [{ op: 'replace', path: '/spec/imageTag', value: 'v2' }] as const
  expect(await writer.jsonPatch(KubeVirts, owner, change)).toMatchObject({ spec: { imageTag: 'v2' } })
  await writer.delete(KubeVirts, owner)
  expect(await reader.get(KubeVirts, kubevirt.metadata)).toEqual({ is: 'absent' })
  const asked = {
    group: 'kubevirt.io',
    resource: 'kubevirts',
    ...kubevirt.metadata,
    dryRun: false,
    subresource: undefined,
  }
  const [get, patch, remove] = store.audit
  expect(get).toMatchObject({ ...asked, verb: 'get' })
  expect(patch).toMatchObject({ ...asked, verb: 'patch' })
  expect(remove).toMatchObject({ ...asked, verb: 'delete' })
})

test('faults of the API meet a request by its own kind, whatever its reference says', async () => {
  const { store, ...here } = tagged()
  const faults = new ApiFaults(store)
  faults.add({ is: 'refused', status: 500, on: { resource: 'configmaps' } })
  const owner = { ...kubevirt.metadata, kind: ConfigMaps }
  expect(await withFaults(here, faults).reader.get(KubeVirts, owner)).toMatchObject({ is: 'object' })
})

test('who follows a kind that is not served is told, and gets it when it comes', async () => {
  const { reader, writer } = storeCluster(freshStore({ kinds: plainKinds }))
  const stop = new AbortController()
  const observed: string[] = []
  const following = (async () => {
    for await (const change of reader.watch(KubeVirts, {}, stop.signal)) {
      observed.push(change.type)
      if (change.type === 'added') stop.abort()
    }
  })()
  await writer.create(CustomResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'kubevirts.kubevirt.io' },
    spec: {
      group: 'kubevirt.io',
      scope: 'Namespaced',
      names: { plural: 'kubevirts', kind: 'KubeVirt' },
      versions: [{ name: 'v1', served: true, storage: true }],
    },
  })
  await writer.create(KubeVirts, kubevirt)
  await following
  expect(observed).toEqual(['lost', 'synced', 'added'])
})
