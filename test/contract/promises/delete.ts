import { describe, expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { createMap, objectIn, refOf, refusal } from './objects.ts'

export function deletePromises(backend: Backend): void {
  const writer = () => backend().cluster.writer
  const reader = () => backend().cluster.reader

  describe('delete', () => {
    test('and the object is absent; a second time is 404', async () => {
      const made = await createMap(backend, {})
      await writer().delete(ConfigMaps, refOf(made))
      expect(await reader().get(ConfigMaps, refOf(made))).toEqual({ is: 'absent' })
      expect((await refusal(writer().delete(ConfigMaps, refOf(made)))).status).toBe(404)
    })

    test('of another uid than the one that was looked at is 409', async () => {
      const made = await createMap(backend, {})
      const uid = '00000000-0000-0000-0000-000000000000'
      expect((await refusal(writer().delete(ConfigMaps, refOf(made), { uid }))).status).toBe(409)
      objectIn(await reader().get(ConfigMaps, refOf(made)))
      await writer().delete(ConfigMaps, refOf(made), { uid: made.metadata.uid })
      expect(await reader().get(ConfigMaps, refOf(made))).toEqual({ is: 'absent' })
    })

    test('of an object that changed since it was looked at is 409', async () => {
      const made = await createMap(backend, { a: '1' })
      await writer().mergePatch(ConfigMaps, refOf(made), { data: { a: '2' } })
      const { resourceVersion } = made.metadata
      expect((await refusal(writer().delete(ConfigMaps, refOf(made), { resourceVersion }))).status).toBe(409)
    })

    test('waits for finalizers: marked until the last one is taken away', async () => {
      const made = await createMap(backend, {}, { finalizers: ['kvup.io/contract'] })
      await writer().delete(ConfigMaps, refOf(made))
      expect(objectIn(await reader().get(ConfigMaps, refOf(made))).metadata.deletionTimestamp).toMatch(
        /^\d{4}-/,
      )
      await writer().mergePatch(ConfigMaps, refOf(made), { metadata: { finalizers: null } })
      expect(await reader().get(ConfigMaps, refOf(made))).toEqual({ is: 'absent' })
    })

    test('and a new object of the name has another uid', async () => {
      const made = await createMap(backend, {})
      await writer().delete(ConfigMaps, refOf(made))
      const again = await createMap(backend, {}, { name: made.metadata.name })
      expect(again.metadata.uid).not.toBe(made.metadata.uid)
    })
  })
}
