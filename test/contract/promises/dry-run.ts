import { describe, expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { configMap, createMap, objectIn, refOf, refusal } from './objects.ts'

export function dryRunPromises(backend: Backend): void {
  const dryRun = () => backend().cluster.reviewer.dryRun
  const reader = () => backend().cluster.reader

  describe('a dry run', () => {
    test('answers as the real call would, and keeps nothing', async () => {
      const wanted = configMap(backend, { a: '1' })
      expect((await dryRun().create(ConfigMaps, wanted)).metadata.uid).toMatch(/\S/)
      expect((await dryRun().apply(ConfigMaps, wanted)).data).toEqual({ a: '1' })
      expect(await reader().get(ConfigMaps, refOf(wanted))).toEqual({ is: 'absent' })
    })

    test('of a change or a deletion leaves the object as it is', async () => {
      const made = await createMap(backend, { a: '1' })
      const patched = await dryRun().mergePatch(ConfigMaps, refOf(made), { data: { a: '2' } })
      expect(patched.data).toEqual({ a: '2' })
      await dryRun().jsonPatch(ConfigMaps, refOf(made), [{ op: 'remove', path: '/data/a' }])
      await dryRun().delete(ConfigMaps, refOf(made))
      const now = objectIn(await reader().get(ConfigMaps, refOf(made)))
      expect(now.data).toEqual({ a: '1' })
      expect(now.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
      expect(now.metadata.deletionTimestamp).toBeUndefined()
    })

    test('is refused where the real call would be', async () => {
      const made = await createMap(backend, { a: '1' })
      const again = configMap(backend, {}, { name: made.metadata.name })
      expect((await refusal(dryRun().create(ConfigMaps, again))).status).toBe(409)
      expect((await refusal(dryRun().apply(ConfigMaps, { ...again, data: { a: '2' } }))).status).toBe(409)
    })
  })
}
