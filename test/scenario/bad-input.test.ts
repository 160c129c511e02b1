import { expect, test } from 'vitest'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { byManifest, byTag, briefly as play } from './stage.ts'

const cases = [
  { name: 'a downgrade', shape: byManifest, to: 'v1.8.3', code: 3, reason: 'downgrade', method: 'image-tag' },
  {
    name: 'a skipped minor of which no release is known',
    shape: { ...byManifest, version: 'v1.9.0' },
    to: 'v1.11.0',
    code: 3,
    reason: 'minor-skipped',
  },
  {
    name: 'one manifest for two minors',
    shape: byManifest,
    to: 'v1.10.0',
    code: 2,
    reason: 'contradiction',
  },
  {
    name: 'an operator that is a minor older',
    shape: { ...byTag, operator: 'v1.7.0' },
    to: 'v1.8.4',
    code: 3,
    reason: 'operator-not-older',
    method: 'image-tag',
  },
  {
    name: 'images that the environment pins',
    shape: { ...byTag, pinned: { VIRT_API_IMAGE: 'quay.io/kubevirt/virt-api:v1.7.0' } },
    to: 'v1.8.4',
    code: 3,
    reason: 'images-pinned',
    method: 'image-tag',
  },
] as const

test.for(cases)('bad input: $name: exit $code, $reason, a remedy, nothing changed', async (given) => {
  const { shape, to, code, reason } = given
  await play(shape, async (stage) => {
    const commandLine = `kvup upgrade --to ${to}`
    const options = 'method' in given ? { method: given.method } : {}
    const ended = await stage.upgrade(to, options, { commandLine })
    expect(ended).toMatchObject({ code, error: { reason } })
    expect(ended.error?.remedy).not.toHaveLength(0)
    // A command without its target is refused when it is pasted.
    const commands = ended.error?.remedy.filter((line) => line.startsWith('kvup upgrade')) ?? []
    expect(commands.filter((line) => !line.startsWith('kvup upgrade --to v'))).toEqual([])
    expect(stage.writes()).toEqual([])
  })
})

const owned = [
  {
    by: 'HyperConverged',
    metadata: { labels: { 'app.kubernetes.io/managed-by': 'hco-operator' } },
    reason: 'no-olm',
  },
  {
    by: 'Argo CD',
    metadata: {
      annotations: { 'argocd.argoproj.io/tracking-id': 'virt:kubevirt.io/KubeVirt:kubevirt/kubevirt' },
    },
    reason: 'managed-by-gitops',
  },
  {
    by: 'Helm',
    metadata: { annotations: { 'meta.helm.sh/release-name': 'virt' } },
    reason: 'managed-by-helm',
  },
] as const

test('owned by somebody: exit 3, the right way named, nothing changed', async () => {
  for (const { by, metadata, reason } of owned)
    await play(byTag, async (stage) => {
      stage.label(metadata)
      const { code, error } = await stage.upgrade('v1.8.4')
      expect([by, code, error?.reason]).toEqual([by, 3, reason])
      expect(stage.writes()).toEqual([])
    })
})

test('bad input: two KubeVirts', async () => {
  await play(byTag, async (stage) => {
    stage.simulated.store.put(KubeVirts, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      metadata: { name: 'other', namespace: 'default' },
    })
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 3, error: { reason: 'several-kubevirts' } })
    expect(ended.text).toMatch(
      /kubevirt\/kubevirt[\s\S]*default\/other|default\/other[\s\S]*kubevirt\/kubevirt/,
    )
    expect(stage.writes()).toEqual([])
  })
})

test('bad input: a KubeVirt that is deleted and made again in the middle is not taken for the same', async () => {
  await play(byTag, async (stage) => {
    const ref = { name: 'kubevirt', namespace: 'kubevirt' }
    const { store } = stage.simulated
    stage.later(10_000, () => {
      const { metadata, spec, apiVersion, kind } = stage.kubevirt
      store.patch(KubeVirts, ref, { type: 'merge', body: { metadata: { finalizers: null } } })
      store.remove(KubeVirts, ref)
      store.put(KubeVirts, {
        apiVersion,
        kind,
        metadata: { ...ref, labels: metadata.labels ?? {} },
        spec,
      } as never)
    })
    const ended = await stage.upgrade('v1.8.4', { timeout: '10m' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'kubevirt-replaced' } })
  })
})

test('bad input: for a KubeVirt that is being deleted nothing is borrowed', async () => {
  await play(byTag, async (stage) => {
    stage.simulated.store.remove(KubeVirts, { name: 'kubevirt', namespace: 'kubevirt' })
    const mark = stage.mark
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 3, error: { reason: 'kubevirt-deleting' } })
    expect(stage.writes(mark)).toEqual([])
  })
})

const gone = () => Promise.reject(new ApiError(0, '', 'no answer from the API server'))

test('no cluster: exit 8 before anything', async () => {
  await play(byTag, async (stage) => {
    const cluster = {
      ...stage.cluster,
      reader: {
        ...stage.cluster.reader,
        list: gone,
        get: gone,
        versions: gone,
        version: gone,
        pages: () => ({ [Symbol.asyncIterator]: () => ({ next: gone }) }),
      },
    }
    expect(await stage.upgrade('v1.8.4', {}, { cluster })).toMatchObject({ code: 8 })
    expect(stage.requests()).toEqual([])
  })
})
