import { describe, expect, test } from 'vitest'
import { Deployments } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { type ConfigMap, ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { configMap, createMap, deployment, kubeVirt, objectIn, refOf, refusal } from './objects.ts'

const managers = ({ metadata }: ConfigMap) =>
  metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`).sort()

export function applyPromises(backend: Backend): void {
  const writer = () => backend().cluster.writer
  const applied = (object: ConfigMap, data: Record<string, string>, options = {}) =>
    writer().apply(ConfigMaps, { ...object, data }, options)
  const stored = async (object: ConfigMap) =>
    objectIn(await backend().cluster.reader.get(ConfigMaps, refOf(object)))

  describe('server-side apply', () => {
    test('creates what is absent, and kvup owns it', async () => {
      const made = await applied(configMap(backend, {}), { a: '1' })
      expect(made.data).toEqual({ a: '1' })
      expect(managers(made)).toEqual(['kvup Apply'])
    })

    test('again and the same: no new resourceVersion', async () => {
      const wanted = configMap(backend, {})
      const first = await applied(wanted, { a: '1' })
      const second = await applied(wanted, { a: '1' })
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    })

    test('a field that is no longer applied goes, what others own stays', async () => {
      const wanted = configMap(backend, {})
      await applied(wanted, { mine: '1', gone: '1' })
      await applied(wanted, { theirs: '1' }, { manager: 'other' })
      expect((await applied(wanted, { mine: '2' })).data).toEqual({ mine: '2', theirs: '1' })
    })

    test("somebody else's field with another value is 409 Conflict, and who it is stands in the message", async () => {
      const wanted = configMap(backend, {})
      await applied(wanted, { a: '1' }, { manager: 'helm' })
      const error = await refusal(applied(wanted, { a: '2' }))
      expect(error).toMatchObject({ status: 409, statusReason: 'Conflict' })
      expect(error.message).toContain('helm')
      expect((await stored(wanted)).data).toEqual({ a: '1' })
    })

    test('the same value is shared: it stays until both have let go', async () => {
      const wanted = configMap(backend, {})
      await applied(wanted, { a: '1' }, { manager: 'helm' })
      await applied(wanted, { a: '1' })
      expect((await applied(wanted, {}, { manager: 'helm' })).data).toEqual({ a: '1' })
      expect((await applied(wanted, {})).data ?? {}).toEqual({})
    })

    test('force takes the field over, and the former owner then is the one in conflict', async () => {
      const wanted = configMap(backend, {})
      await applied(wanted, { a: '1' }, { manager: 'helm' })
      const forced = await applied(wanted, { a: '2' }, { force: true })
      expect(forced.data).toEqual({ a: '2' })
      expect((await refusal(applied(wanted, { a: '1' }, { manager: 'helm' }))).message).toContain('kvup')
      expect((await stored(wanted)).data).toEqual({ a: '2' })
    })

    test('a patch of kvup is another owner than an apply of kvup', async () => {
      const made = await createMap(backend, { a: '1' })
      const bare = { ...made, metadata: { name: made.metadata.name, namespace: backend().namespace } }
      expect((await refusal(applied(bare, { a: '2' }))).status).toBe(409)
      const forced = await applied(bare, { a: '2' }, { force: true })
      expect(forced.data).toEqual({ a: '2' })
      expect(managers(forced)).toContain('kvup Apply')
    })

    test('a patch by somebody takes the field from who applied it', async () => {
      const wanted = configMap(backend, {})
      await applied(wanted, { a: '1', b: '1' }, { manager: 'helm' })
      await writer().mergePatch(ConfigMaps, refOf(wanted), { data: { a: '2' } })
      expect((await applied(wanted, { b: '1' }, { manager: 'helm' })).data).toEqual({ a: '2', b: '1' })
    })

    test('containers are merged by name', async () => {
      const wanted = deployment(backend, [{ name: 'one', image: 'registry/one:1' }])
      await writer().apply(Deployments, wanted)
      const two = [{ name: 'two', image: 'registry/two:1' }]
      const more = { ...wanted.spec, template: { ...wanted.spec?.template, spec: { containers: two } } }
      const both = await writer().apply(Deployments, { ...wanted, spec: more }, { manager: 'other' })
      expect(both.spec?.template?.spec?.containers?.map(({ name }) => name).sort()).toEqual(['one', 'two'])
    })

    test('works on a custom kind', async () => {
      const wanted = kubeVirt(backend, { imageTag: 'v1.7.0', imageRegistry: 'quay.io/kubevirt' })
      await writer().apply(KubeVirts, wanted)
      const without = await writer().apply(KubeVirts, { ...wanted, spec: { imageTag: 'v1.8.4' } })
      expect(without.spec?.imageTag).toBe('v1.8.4')
      expect(without.spec?.imageRegistry).toBeUndefined()
    })
  })
}
