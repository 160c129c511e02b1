import { expect, test } from 'vitest'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { ApiFaults, withFaults } from '../../../../src/simulator/api/api-faults.ts'
import { seed, Store } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import {
  type KubeVirt,
  KubeVirts,
  VirtualMachineInstances,
} from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'

const ref = { name: 'kubevirt', namespace: 'kubevirt' }
const kubevirt: KubeVirt = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: ref,
  spec: { imageTag: 'v1' },
}

function cluster() {
  const store = new Store(new SimClock())
  seed(store, [kubevirt])
  return { store, ...storeCluster(store) }
}

test('spec and status are written apart, and only the spec counts in generation', async () => {
  const { reader, writer } = cluster()
  await writer.mergePatch(KubeVirts, ref, { spec: { imageTag: 'v2' }, status: { phase: 'Deployed' } })
  await writer.mergePatch(
    KubeVirts,
    ref,
    { spec: { imageTag: 'v3' }, status: { phase: 'Deploying' } },
    'status',
  )
  await writer.mergePatch(KubeVirts, ref, { metadata: { labels: { a: 'b' } } })
  const found = await reader.get(KubeVirts, ref)
  expect(found).toMatchObject({
    object: { metadata: { generation: 2 }, spec: { imageTag: 'v2' }, status: { phase: 'Deploying' } },
  })
})

test('an instance has no status subresource', async () => {
  const { writer } = cluster()
  const vmi = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'a', namespace: 'kubevirt' },
  }
  await writer.create(VirtualMachineInstances, vmi)
  const patched = await writer.mergePatch(VirtualMachineInstances, vmi.metadata, {
    status: { phase: 'Running' },
  })
  expect(patched.status?.phase).toBe('Running')
  await expect(
    writer.mergePatch(VirtualMachineInstances, vmi.metadata, { status: { phase: 'Failed' } }, 'status'),
  ).rejects.toMatchObject({ status: 404 })
})

test('a write that changes nothing keeps the resourceVersion', async () => {
  const { store, writer } = cluster()
  const before = store.revision
  await writer.mergePatch(KubeVirts, ref, { spec: { imageTag: 'v1' } })
  expect(store.revision).toBe(before)
})

test('follows what there is, then what happens', async () => {
  const { reader, writer } = cluster()
  const stop = new AbortController()
  const observed: string[] = []
  const following = (async () => {
    for await (const change of reader.watch(KubeVirts, {}, stop.signal)) {
      observed.push(change.type)
      if (change.type === 'modified') stop.abort()
    }
  })()
  await writer.mergePatch(KubeVirts, ref, { spec: { imageTag: 'v2' } })
  await following
  expect(observed).toEqual(['added', 'synced', 'modified'])
})

test('applies, refuses what is not its own, and takes it by force', async () => {
  const { reader, writer } = cluster()
  const wanted: KubeVirt = { ...kubevirt, spec: { imageTag: 'v2', imageRegistry: 'r' } }
  await expect(writer.apply(KubeVirts, wanted)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('conflict with "kubectl-create" using kubevirt.io/v1: .spec.imageTag'),
  })
  await writer.apply(KubeVirts, wanted, { force: true })
  await writer.apply(KubeVirts, { ...kubevirt, spec: { imageTag: 'v2' } })
  expect(await reader.get(KubeVirts, ref)).toMatchObject({ object: { spec: { imageTag: 'v2' } } })
  const found = await reader.get(KubeVirts, ref)
  expect(found.is === 'object' && found.object.spec).toEqual({ imageTag: 'v2' })
})

test('says what is missing as the API server does', async () => {
  const { writer } = cluster()
  await expect(writer.delete(ConfigMaps, { name: 'x', namespace: 'kubevirt' })).rejects.toMatchObject({
    status: 404,
    message: 'configmaps "x" not found',
  })
  await expect(
    writer.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', namespace: 'nowhere' },
    }),
  ).rejects.toMatchObject({ message: 'namespaces "nowhere" not found' })
})

test('a reference out of an object says more than where it is: only name and namespace are taken', async () => {
  const { store, reader, writer } = cluster()
  const owner = {
    ...ref,
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
  expect(await reader.get(KubeVirts, ref)).toEqual({ is: 'absent' })
  const asked = { group: 'kubevirt.io', resource: 'kubevirts', ...ref, dryRun: false, subresource: undefined }
  const [get, patch, remove] = store.audit
  expect(get).toMatchObject({ ...asked, verb: 'get' })
  expect(patch).toMatchObject({ ...asked, verb: 'patch' })
  expect(remove).toMatchObject({ ...asked, verb: 'delete' })
})

test('faults of the API meet a request by its own kind, whatever its reference says', async () => {
  const { store, ...here } = cluster()
  const faults = new ApiFaults(store)
  faults.add({ is: 'refused', status: 500, on: { resource: 'configmaps' } })
  const owner = { ...ref, kind: ConfigMaps }
  expect(await withFaults(here, faults).reader.get(KubeVirts, owner)).toMatchObject({ is: 'object' })
})
