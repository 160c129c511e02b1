import { describe, expect, test } from 'vitest'
import { Deployments } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { deployment, kubeVirt, objectIn, refOf } from './objects.ts'

export function generationPromises(backend: Backend): void {
  const writer = () => backend().cluster.writer
  const make = () => writer().create(KubeVirts, kubeVirt(backend, { imageTag: 'v1.7.0' }))
  const stored = async (made: KubeVirt) =>
    objectIn(await backend().cluster.reader.get(KubeVirts, refOf(made)))

  describe('generation', () => {
    test('begins with 1 and counts changes of the spec', async () => {
      const made = await make()
      expect(made.metadata.generation).toBe(1)
      const changed = await writer().mergePatch(KubeVirts, refOf(made), { spec: { imageTag: 'v1.8.4' } })
      expect(changed.metadata.generation).toBe(2)
      const same = await writer().mergePatch(KubeVirts, refOf(made), { spec: { imageTag: 'v1.8.4' } })
      expect(same.metadata.generation).toBe(2)
    })

    test('does not count labels, annotations and status', async () => {
      const made = await make()
      await writer().mergePatch(KubeVirts, refOf(made), {
        metadata: { labels: { a: '1' }, annotations: { b: '1' } },
      })
      await writer().mergePatch(KubeVirts, refOf(made), { status: { phase: 'Deployed' } }, 'status')
      const now = await stored(made)
      expect(now.metadata.generation).toBe(1)
      expect(now.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion)
    })

    test('of a Deployment counts its spec', async () => {
      const made = await writer().create(
        Deployments,
        deployment(backend, [{ name: 'one', image: 'registry/one:1' }]),
      )
      expect(made.metadata.generation).toBe(1)
      const labelled = await writer().mergePatch(Deployments, refOf(made), {
        metadata: { labels: { a: '1' } },
      })
      expect(labelled.metadata.generation).toBe(1)
      const changed = await writer().mergePatch(Deployments, refOf(made), { spec: { paused: true } })
      expect(changed.metadata.generation).toBe(2)
    })
  })

  describe('status', () => {
    test('is not changed by a patch of the object', async () => {
      const made = await make()
      await writer().mergePatch(KubeVirts, refOf(made), { status: { phase: 'Deployed' } })
      expect((await stored(made)).status?.phase).toBeUndefined()
    })

    test('is changed by a patch of the subresource, which changes nothing else', async () => {
      const made = await make()
      const change = { status: { phase: 'Deployed', observedGeneration: 1 }, spec: { imageTag: 'v9.9.9' } }
      const patched = await writer().mergePatch(KubeVirts, refOf(made), change, 'status')
      expect(patched.status).toMatchObject({ phase: 'Deployed', observedGeneration: 1 })
      expect((await stored(made)).spec?.imageTag).toBe('v1.7.0')
    })

    test('is changed by a JSON patch of the subresource', async () => {
      const made = await make()
      const conditions = [{ type: 'Available', status: 'True' as const, reason: 'AllComponentsReady' }]
      const operations = [{ op: 'add' as const, path: '/status', value: { conditions } }]
      const patched = await writer().jsonPatch(KubeVirts, refOf(made), operations, 'status')
      expect(patched.status?.conditions).toEqual(conditions)
    })
  })
}
