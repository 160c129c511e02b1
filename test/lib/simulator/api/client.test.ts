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
