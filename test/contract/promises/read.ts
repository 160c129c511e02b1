import { describe, expect, test } from 'vitest'
import { ConfigMaps, Leases, Namespaces } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { configMap, createMap, kubeVirt, lease, objectIn, refOf, refusal } from './objects.ts'

export function readPromises(backend: Backend): void {
  const cluster = () => backend().cluster

  describe('find', () => {
    test('an object: what was created, with its kind and the marks of the server', async () => {
      const made = await createMap(backend, { a: '1' })
      const object = objectIn(await cluster().reader.get(ConfigMaps, refOf(made)))
      expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } })
      expect(object.metadata.uid).toMatch(/\S/)
      expect(object.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
      expect(Date.parse(object.metadata.creationTimestamp ?? '')).not.toBeNaN()
    })

    test('a name that nobody has is absent', async () => {
      const found = await cluster().reader.get(ConfigMaps, {
        name: 'nobody',
        namespace: backend().namespace,
      })
      expect(found).toEqual({ is: 'absent' })
    })

    test('a name of a custom kind that nobody has is absent', async () => {
      const found = await cluster().reader.get(KubeVirts, { name: 'nobody', namespace: backend().namespace })
      expect(found).toEqual({ is: 'absent' })
    })

    test('a kind that the cluster does not know is unserved, not absent', async () => {
      const ref = { name: 'any', namespace: backend().namespace }
      const noGroup = { ...KubeVirts, apiVersion: 'nothing.kvup.io/v1' }
      const noResource = { ...ConfigMaps, plural: 'nothings', kind: 'Nothing' }
      const noVersion = { ...KubeVirts, apiVersion: 'kubevirt.io/v9' }
      for (const kind of [noGroup, noResource, noVersion]) {
        expect(await cluster().reader.get(kind, ref)).toEqual({ is: 'unserved' })
      }
    })

    test('a cluster-scoped object needs no namespace', async () => {
      const found = await cluster().reader.get(Namespaces, { name: backend().namespace })
      expect(objectIn(found).metadata.namespace).toBeUndefined()
    })
  })

  describe('create', () => {
    test('a name that is taken is 409 AlreadyExists, and the first object stays', async () => {
      const made = await createMap(backend, { a: '1' })
      const error = await refusal(
        cluster().writer.create(ConfigMaps, configMap(backend, { a: '2' }, { name: made.metadata.name })),
      )
      expect(error).toMatchObject({ status: 409, statusReason: 'AlreadyExists' })
      expect(objectIn(await cluster().reader.get(ConfigMaps, refOf(made))).data).toEqual({ a: '1' })
    })

    test('a Lease keeps its times to the microsecond', async () => {
      const renewTime = '2026-01-02T03:04:05.678901Z'
      const wanted = lease(backend, 'me')
      const made = await cluster().writer.create(Leases, { ...wanted, spec: { ...wanted.spec, renewTime } })
      expect(made.spec?.renewTime).toBe(renewTime)
    })

    test('a kind that is not served is 404', async () => {
      const kind = { ...KubeVirts, apiVersion: 'nothing.kvup.io/v1' }
      const object = { ...kubeVirt(backend, {}), apiVersion: 'nothing.kvup.io/v1' }
      expect((await refusal(cluster().writer.create(kind, object))).status).toBe(404)
    })

    test('every write is signed by kvup', async () => {
      const made = await createMap(backend, { a: '1' })
      const signed = made.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])
      expect(signed).toEqual([['kvup', 'Update']])
    })
  })
}
