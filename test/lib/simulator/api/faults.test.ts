import { expect, test } from 'vitest'
import { type KubeVirt, KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { seed } from '../../../../src/simulator/api/store.ts'
import { ApiFaults, withFaults } from '../../../../src/simulator/api/api-faults.ts'
import { freshStore, namespace, refused } from './fixture.ts'

const ref = { name: 'kubevirt', namespace }
const patch = { spec: { imageTag: 'v2' } }

function cluster() {
  const store = freshStore()
  const kubevirt: KubeVirt = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: ref,
    spec: { imageTag: 'v1' },
  }
  seed(store, [kubevirt])
  const faults = new ApiFaults(store)
  const tag = () => (store.read(KubeVirts, ref) as KubeVirt).spec?.imageTag
  return { store, faults, tag, ...withFaults(storeCluster(store), faults) }
}

test('429 for the next two patches, then no more; other verbs are spared', async () => {
  const { faults, writer, reader, tag } = cluster()
  faults.add({
    is: 'refused',
    status: 429,
    retryAfter: 3,
    times: 2,
    on: { verb: 'patch', resource: 'kubevirts' },
  })
  expect((await reader.get(KubeVirts, ref)).is).toBe('object')
  const refusal = { status: 429, retryAfter: 3 }
  await expect(writer.mergePatch(KubeVirts, ref, patch)).rejects.toMatchObject(refusal)
  await expect(writer.mergePatch(KubeVirts, ref, patch)).rejects.toMatchObject(refusal)
  expect(tag()).toBe('v1')
  await writer.mergePatch(KubeVirts, ref, patch)
  expect(tag()).toBe('v2')
})

test('slow answers take the time of the clock, and are over when the fault is lifted', async () => {
  const { store, faults, reader } = cluster()
  const lift = faults.add({ is: 'slow', ms: 30_000 })
  const began = store.clock.now().getTime()
  await reader.version()
  expect(store.clock.now().getTime() - began).toBe(30_000)
  lift()
  await reader.version()
  expect(store.clock.now().getTime() - began).toBe(30_000)
})

test('expired credentials are 401 for the user that they belong to', async () => {
  const { faults, reader } = cluster()
  faults.add({ is: 'unauthorized', on: { user: 'someone else' } })
  expect((await reader.get(KubeVirts, ref)).is).toBe('object')
  faults.add({ is: 'unauthorized' })
  await expect(reader.get(KubeVirts, ref)).rejects.toMatchObject({ status: 401 })
})

test('a webhook that is down fails every write to its resource, dry runs too', async () => {
  const { faults, writer, reviewer, tag } = cluster()
  const service = 'virt-operator-webhook.kubevirt'
  faults.add({
    is: 'webhook-down',
    resource: 'kubevirts',
    webhook: 'kubevirt-validator.kubevirt.io',
    service,
  })
  const refusal = {
    status: 500,
    message: expect.stringContaining('failed calling webhook "kubevirt-validator.kubevirt.io"'),
  }
  await expect(writer.mergePatch(KubeVirts, ref, patch)).rejects.toMatchObject(refusal)
  await expect(reviewer.dryRun.mergePatch(KubeVirts, ref, patch)).rejects.toMatchObject(refusal)
  expect(tag()).toBe('v1')
})

test('a webhook that refuses says why, for its operations only', () => {
  const { store, faults } = cluster()
  faults.add({
    is: 'webhook-refuses',
    resource: 'kubevirts',
    webhook: 'w',
    message: 'no',
    operations: ['DELETE'],
  })
  expect(store.patch(KubeVirts, ref, { type: 'merge', body: patch })).toMatchObject(patch)
  expect(refused(() => store.remove(KubeVirts, ref)).message).toBe(
    'admission webhook "w" denied the request: no',
  )
})

test('a foreign writer sets the field back and signs for it', async () => {
  const { store, faults, writer, tag } = cluster()
  faults.add({
    is: 'reverts',
    resource: 'kubevirts',
    path: ['spec', 'imageTag'],
    value: 'v1',
    afterMs: 2000,
    by: 'argocd-controller',
  })
  await writer.mergePatch(KubeVirts, ref, patch)
  await store.clock.sleep(1000)
  expect(tag()).toBe('v2')
  await store.clock.sleep(1500)
  expect(tag()).toBe('v1')
  expect(store.read(KubeVirts, ref)?.metadata.managedFields?.map((m) => m.manager)).toContain(
    'argocd-controller',
  )
})
