import { expect, test } from 'vitest'
import { CustomResourceDefinitions } from '../../../../src/lib/kube/kinds/extension-kinds.ts'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { plainKinds } from '../../../../src/simulator/api/kinds/built-in-kinds.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { freshStore, namespace } from './fixture.ts'

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'kubevirts.kubevirt.io' },
  spec: {
    group: 'kubevirt.io',
    scope: 'Namespaced',
    names: { plural: 'kubevirts', kind: 'KubeVirt', shortNames: ['kv'] },
    versions: [
      { name: 'v1alpha3', served: true, storage: false },
      { name: 'v1', served: true, storage: true, subresources: { status: {} } },
      { name: 'v0', served: false, storage: false },
    ],
  },
}
const ref = { name: 'k', namespace }
const kubevirt = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: ref }

test('a kind is served while its definition is there, and its objects go with it', async () => {
  const store = freshStore({ kinds: plainKinds })
  const { reader, writer } = storeCluster(store)
  expect(await reader.get(KubeVirts, ref)).toEqual({ is: 'unserved' })
  const made = await writer.create(CustomResourceDefinitions, definition)
  expect(made.status).toMatchObject({
    storedVersions: ['v1'],
    conditions: [{ type: 'NamesAccepted' }, { type: 'Established', status: 'True' }],
  })
  expect(await reader.versions('kubevirt.io')).toEqual(['v1', 'v1alpha3'])
  await writer.create(KubeVirts, kubevirt)
  const older = await reader.get({ ...KubeVirts, apiVersion: 'kubevirt.io/v1alpha3' }, ref)
  expect(older).toMatchObject({ object: { apiVersion: 'kubevirt.io/v1alpha3' } })
  expect(await reader.get({ ...KubeVirts, apiVersion: 'kubevirt.io/v0' }, ref)).toEqual({ is: 'unserved' })
  await writer.delete(CustomResourceDefinitions, definition.metadata)
  expect(await reader.get(KubeVirts, ref)).toEqual({ is: 'unserved' })
  expect(store.everything().map((o) => o.kind)).toEqual(['Namespace'])
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
  await writer.create(CustomResourceDefinitions, definition)
  await writer.create(KubeVirts, kubevirt)
  await following
  expect(observed).toEqual(['lost', 'synced', 'added'])
})
