import { describe, expect, test } from 'vitest'
import type { Backend } from '../contract-backend.ts'

export function discoveryPromises(backend: Backend): void {
  describe('discovery and rights', () => {
    test('names the versions of a group; a group that is not served has none', async () => {
      const { reader } = backend().cluster
      expect(await reader.versions('apps')).toContain('v1')
      expect(await reader.versions('')).toEqual(['v1'])
      expect((await reader.versions('kubevirt.io'))[0]).toBe('v1')
      expect(await reader.versions('nothing.kvup.io')).toEqual([])
    })

    test('says which Kubernetes it is', async () => {
      const { gitVersion, major, minor } = await backend().cluster.reader.version()
      expect(gitVersion).toMatch(/^v\d+\.\d+\.\d+/)
      expect(gitVersion.startsWith(`v${major}.${minor.replace('+', '')}.`)).toBe(true)
    })

    test('answers what we may do', async () => {
      const { namespace, cluster } = backend()
      const asked = { verb: 'patch', group: 'kubevirt.io', resource: 'kubevirts', namespace }
      expect((await cluster.reviewer.can(asked)).allowed).toBe(true)
    })

    test('says who we are, or that it does not say', async () => {
      const who = await backend().cluster.reviewer.whoAmI()
      expect(who === undefined || who.length > 0).toBe(true)
    })
  })
}
