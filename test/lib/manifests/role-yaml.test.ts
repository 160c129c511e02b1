import { expect, test } from 'vitest'
import { ClusterRoles } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import { parseManifest } from '../../../src/lib/manifests/manifest.ts'
import { roleYaml } from '../../../src/lib/manifests/manifest-diff.ts'

test('every rule says what it is for, and the text is still the role', () => {
  const { apiVersion, kind } = ClusterRoles
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
    { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['virt-operator'], verbs: ['get'] },
  ]
  const role = { apiVersion, kind, metadata: { name: 'kvup-view' }, rules }
  const text = roleYaml(role, ['see pods', 'see the operator'])
  expect(text).toContain('  # see pods\n  - apiGroups: [""]\n    resources: [pods]\n    verbs: [get, list]\n')
  expect(text).toContain('# see the operator')
  expect(parseManifest(text, 'x')).toEqual([role])
})
