import { describe, expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { createMap, kubeVirt, objectIn, refOf, refusal } from './objects.ts'

export function patchPromises(backend: Backend): void {
  const writer = () => backend().cluster.writer
  const reader = () => backend().cluster.reader

  describe('merge patch', () => {
    test('adds, replaces and, by null, removes; the rest stays', async () => {
      const made = await createMap(backend, { keep: '1', change: '1', drop: '1' })
      const patched = await writer().mergePatch(ConfigMaps, refOf(made), {
        data: { change: '2', drop: null, add: '3' },
      })
      expect(patched.data).toEqual({ keep: '1', change: '2', add: '3' })
    })

    test('goes deep into a custom kind and replaces lists whole', async () => {
      const made = await writer().create(
        KubeVirts,
        kubeVirt(backend, {
          workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate', 'Evict'], batchEvictionSize: 3 },
        }),
      )
      const patched = await writer().mergePatch(KubeVirts, refOf(made), {
        spec: { workloadUpdateStrategy: { workloadUpdateMethods: [] } },
      })
      expect(patched.spec?.workloadUpdateStrategy).toEqual({
        workloadUpdateMethods: [],
        batchEvictionSize: 3,
      })
    })

    test('a resourceVersion that is not the newest is 409 Conflict, the newest is accepted', async () => {
      const made = await createMap(backend, { a: '1' })
      const resourceVersion = made.metadata.resourceVersion ?? ''
      const change = (a: string) => ({ metadata: { resourceVersion }, data: { a } })
      const second = await writer().mergePatch(ConfigMaps, refOf(made), change('2'))
      expect(second.metadata.resourceVersion).not.toBe(resourceVersion)
      const error = await refusal(writer().mergePatch(ConfigMaps, refOf(made), change('3')))
      expect(error).toMatchObject({ status: 409, statusReason: 'Conflict' })
      expect(objectIn(await reader().get(ConfigMaps, refOf(made))).data).toEqual({ a: '2' })
    })

    test('that changes nothing makes no new resourceVersion', async () => {
      const made = await createMap(backend, { a: '1' })
      const same = await writer().mergePatch(ConfigMaps, refOf(made), { data: { a: '1' } })
      expect(same.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    })

    test('of an absent object is 404', async () => {
      const ref = { name: 'nobody', namespace: backend().namespace }
      expect((await refusal(writer().mergePatch(ConfigMaps, ref, { data: {} }))).status).toBe(404)
    })
  })

  describe('JSON patch', () => {
    test('adds, replaces, removes, and reaches keys with a slash', async () => {
      const made = await createMap(backend, { a: '1', b: '1' }, { annotations: { 'kvup.io/x': '1' } })
      const patched = await writer().jsonPatch(ConfigMaps, refOf(made), [
        { op: 'test', path: '/metadata/annotations/kvup.io~1x', value: '1' },
        { op: 'replace', path: '/metadata/annotations/kvup.io~1x', value: '2' },
        { op: 'add', path: '/data/c', value: '1' },
        { op: 'remove', path: '/data/b' },
      ])
      expect(patched.data).toEqual({ a: '1', c: '1' })
      expect(patched.metadata.annotations).toEqual({ 'kvup.io/x': '2' })
    })

    test('a test that fails is 422, and nothing of the patch is kept', async () => {
      const made = await createMap(backend, { a: '1' })
      const error = await refusal(
        writer().jsonPatch(ConfigMaps, refOf(made), [
          { op: 'add', path: '/data/b', value: '1' },
          { op: 'test', path: '/data/a', value: 'another' },
        ]),
      )
      expect(error.status).toBe(422)
      expect(objectIn(await reader().get(ConfigMaps, refOf(made))).data).toEqual({ a: '1' })
    })
  })
}
