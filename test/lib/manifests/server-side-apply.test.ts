import { expect, test } from 'vitest'
import type { Writer } from '../../../src/lib/kube/cluster.ts'
import { Deployments } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import {
  applyManifest,
  conflictFindings,
  isApplied,
  manifestChanges,
} from '../../../src/lib/manifests/apply-manifest.ts'
import { kindOf } from '../../../src/lib/manifests/manifest.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { Store } from '../../../src/simulator/api/store.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { container, example } from './example.ts'

/** The release before: another image, and a variable that the new one no longer has. */
function older() {
  const manifest = example((text) => text.replaceAll('v1.8.4', 'v1.7.0'))
  container(manifest.operator).env?.push({ name: 'OLD', value: '1' })
  return manifest
}

async function installedBy(manager: string) {
  const cluster = storeCluster(new Store(new SimClock()))
  for (const object of older().objects) await cluster.writer.apply(kindOf(object), object, { manager })
  return cluster
}

const operator = { name: 'virt-operator', namespace: 'kubevirt' }

test('an update replaces what changed, drops what is gone, and the second one writes nothing', async () => {
  const { reader, writer } = await installedBy('kubectl')
  const { objects } = example()
  const written = await applyManifest(objects, { reader, writer })
  expect(written.map(({ wanted }) => wanted.kind)).toEqual(['Deployment'])

  const found = await reader.get(Deployments, operator)
  const live = found.is === 'object' ? found.object : undefined
  expect(container(live!).image).toBe('quay.io/kubevirt/virt-operator:v1.8.4')
  expect(container(live!).env?.map(({ name }) => name)).not.toContain('OLD')
  expect(live?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kvup'])

  const refuses: Pick<Writer, 'apply' | 'jsonPatch'> = {
    apply: async (_, object: KubeObject) => Promise.reject(new Error(`wrote ${object.kind}`)),
    jsonPatch: async (_, ref) => Promise.reject(new Error(`patched ${ref.name}`)),
  }
  expect(await applyManifest(objects, { reader, writer: refuses })).toEqual([])
  expect(isApplied(await manifestChanges(reader, objects))).toBe(true)
})

test('somebody else’s field is a blocker before, and is taken only by an apply that was accepted', async () => {
  const { reader, writer } = await installedBy('helm')
  const { objects } = example()
  const [finding] = conflictFindings(await manifestChanges(reader, objects))
  expect(finding).toMatchObject({ id: 'manifest-conflicts', objects: ['Deployment virt-operator'] })
  await applyManifest(objects, { reader, writer })
  expect(isApplied(await manifestChanges(reader, objects))).toBe(true)
})
