import { expect, test } from 'vitest'
import { DaemonSets, Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { NotSavedError } from '../../../src/lib/kube/saved/saved-cluster.ts'
import { parseSavedCluster } from '../../../src/lib/kube/saved/saved-file.ts'

const handler = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'virt-handler',
    namespace: 'kubevirt',
    labels: { 'kubevirt.io': 'virt-handler', 'app.kubernetes.io/managed-by': 'virt-operator' },
  },
}

function snapshotThatRead(labels: string) {
  const index = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'SnapshotIndex',
    metadata: { name: 'snapshot' },
    takenAt: '2026-01-01T00:00:00Z',
    takenBy: 'v0',
    redacted: false,
    objects: 1,
    read: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kubevirt', labels }],
    unread: [],
    groups: {},
    rights: [],
  }
  return parseSavedCluster([index, handler].map((one) => JSON.stringify(one)).join('\n'), 'former.ndjson')
}

const managed = 'app.kubernetes.io/managed-by=virt-operator'

test('a former snapshot answers for what KubeVirt runs, though it was asked for with one label more', async () => {
  const { reader } = await snapshotThatRead(`kubevirt.io,${managed}`)
  const found = await reader.list(DaemonSets, { namespace: 'kubevirt', labels: managed })
  expect(found.map(({ metadata }) => metadata.name)).toEqual(['virt-handler'])
})

test.each([
  ['another label', 'app=other', 'kubevirt', managed],
  ['more than what is asked for', `kubevirt.io,${managed},tier=one`, 'kubevirt', managed],
  ['another namespace', `kubevirt.io,${managed}`, 'elsewhere', managed],
])('a snapshot that read by %s does not answer', async (_, read, namespace, labels) => {
  const { reader } = await snapshotThatRead(read)
  await expect(reader.list(DaemonSets, { namespace, labels })).rejects.toThrow(NotSavedError)
})

test('pods that were printed of one namespace tell nothing of those of another', async () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'virt-api', namespace: 'kubevirt' } }
  const kubevirt = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: pod.metadata }
  const text = [pod, kubevirt].map((one) => JSON.stringify(one)).join('\n')
  const { reader } = await parseSavedCluster(text, 'printed.ndjson')
  expect(await reader.list(Pods, { namespace: 'kubevirt', labels: 'of=nobody' })).toEqual([])
  await expect(reader.list(Pods, { namespace: 'demo' })).rejects.toThrow(NotSavedError)
})
