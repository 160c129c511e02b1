import { describe, expect, test } from 'vitest'
import { extrasFindings } from '../../../src/lib/manifests/manifest-extras.ts'
import { example } from './example.ts'
import fixture from './extras.json' with { type: 'json' }

const role = (verbs: string) =>
  `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: more}\n` +
  `rules: [{apiGroups: ['*'], resources: ['*'], verbs: [${verbs}]}]\n`

describe('manifest-extras', () => {
  test('says nothing of the manifest of a release', () => {
    expect(extrasFindings(example())).toEqual([])
  })

  test.each(fixture.extras)('is a blocker for %s', (more, why) => {
    const [finding] = extrasFindings(example((text) => `${text}\n${more}`))
    expect(finding).toMatchObject({ id: 'manifest-extras', level: 'blocker' })
    expect(finding?.summary).toContain(why)
  })

  test('looking at everything is looking at all secrets', () => {
    const [finding] = extrasFindings(
      example((text) => text + role('get, list').replace('more', 'kubevirt-more')),
    )
    expect(finding?.summary).toContain('ClusterRole kubevirt-more may get *.*, list *.*')
  })

  test('says nothing of one more role of KubeVirt that looks at what it names', () => {
    const more = role('get, list')
      .replace('more', 'kubevirt-more')
      .replace("resources: ['*']", 'resources: [vms]')
      .replace("apiGroups: ['*']", 'apiGroups: [new.kubevirt.io]')
    expect(extrasFindings(example((text) => text + more))).toEqual([])
  })
})

describe('a manifest is refused', () => {
  test.each(fixture.refused)('for %s', (more, why) => {
    expect(() => example((text) => `${text}\n${more}`)).toThrow(why)
  })
})
