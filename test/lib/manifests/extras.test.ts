import { describe, expect, test } from 'vitest'
import { extrasFindings } from '../../../src/lib/manifests/manifest-extras.ts'
import { example } from './example.ts'

const binding = (subject: string, role: string) =>
  `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: more}\n` +
  `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${role}}\nsubjects: [${subject}]\n`
const own = '{kind: ServiceAccount, name: kubevirt-operator, namespace: kubevirt}'
const mallory = '{kind: User, name: mallory, apiGroup: rbac.authorization.k8s.io}'
const role = (verbs: string) =>
  `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: more}\n` +
  `rules: [{apiGroups: ['*'], resources: ['*'], verbs: [${verbs}]}]\n`

describe('manifest-extras', () => {
  test('says nothing of the manifest of a release', () => {
    expect(extrasFindings(example())).toEqual([])
  })

  test.each([
    [
      '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kube-system}\n',
      'namespace kubevirt',
    ],
    ['---\napiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n', 'namespace kubevirt'],
    [
      '---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: kubevirt}\n',
      'not the operator',
    ],
    [binding(mallory, 'kubevirt-operator'), 'gives rights to User mallory'],
    [binding(`${own}, ${mallory}`, 'kubevirt-operator'), 'gives rights to User mallory'],
    [
      binding(own.replace('namespace: kubevirt', 'namespace: default'), 'kubevirt-operator'),
      'gives rights to',
    ],
    [binding(own, 'cluster-admin'), 'gives the rights of ClusterRole cluster-admin'],
    [role(`'*'`), 'may do everything'],
  ])('is a blocker for %s', (more, why) => {
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
  test.each([
    ['---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n', 'ConfigMap a names no namespace'],
    [role(`'get'`).replace(/rules.*/, 'rules: [null]'), 'rules of ClusterRole more is no list of objects'],
    [role(`'get'`).replace(/verbs.*/, 'verbs: null}]'), 'verbs of ClusterRole more is no list'],
    [
      binding(own, 'x').replace(/subjects.*/, 'subjects: x'),
      'subjects of ClusterRoleBinding more is no list',
    ],
  ])('for %s', (more, why) => {
    expect(() => example((text) => `${text}\n${more}`)).toThrow(why)
  })
})
