import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { isWrite } from '../../../../src/simulator/api/api-request.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { seed } from '../../../../src/simulator/api/store.ts'
import { freshStore, map, namespace } from './fixture.ts'

const rbac = 'rbac.authorization.k8s.io/v1'
const role = (kind: string, rules: object[], where: object = {}) => ({
  apiVersion: rbac,
  kind,
  metadata: { name: 'r', ...where },
  rules,
})
const binding = (kind: string, roleKind: string, where: object = {}) => ({
  apiVersion: rbac,
  kind,
  metadata: { name: 'b', ...where },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: roleKind, name: 'r' },
  subjects: [{ kind: 'User', name: 'x' }],
})
const reading = [
  {
    apiGroups: ['kubevirt.io'],
    resources: ['kubevirts'],
    verbs: ['get', 'list'],
    resourceNames: ['kubevirt'],
  },
]
const ref = { name: 'kubevirt', namespace }

function as(user: string, ...objects: Parameters<typeof seed>[1]) {
  const store = freshStore()
  seed(store, [{ apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: ref }, ...objects])
  return { store, ...storeCluster(store, { user }) }
}

test('without a role: 403 in the real words', async () => {
  const { writer } = as('x')
  await expect(writer.mergePatch(KubeVirts, ref, { spec: {} })).rejects.toMatchObject({
    status: 403,
    statusReason: 'Forbidden',
    message:
      'kubevirts.kubevirt.io "kubevirt" is forbidden: User "x" cannot patch resource "kubevirts" in API group "kubevirt.io" in the namespace "a"',
  })
})

test('a list that is narrowed to one name is asked for under that name', async () => {
  const { reader } = as(
    'x',
    role('Role', reading, { namespace }),
    binding('RoleBinding', 'Role', { namespace }),
  )
  expect(await reader.list(KubeVirts, { namespace, name: 'kubevirt' })).toHaveLength(1)
  await expect(reader.list(KubeVirts, { namespace })).rejects.toMatchObject({ status: 403 })
  await expect(reader.list(KubeVirts, { namespace, name: 'other' })).rejects.toMatchObject({ status: 403 })
})

test('a Role holds in its namespace, for its verbs and names only', async () => {
  const { reader, reviewer } = as(
    'x',
    role('Role', reading, { namespace }),
    binding('RoleBinding', 'Role', { namespace }),
  )
  expect((await reader.get(KubeVirts, ref)).is).toBe('object')
  await expect(reader.get(KubeVirts, { ...ref, name: 'other' })).rejects.toMatchObject({ status: 403 })
  await expect(reader.list(ConfigMaps)).rejects.toMatchObject({
    message: expect.stringContaining('at the cluster scope'),
  })
  const asked = { verb: 'get', group: 'kubevirt.io', resource: 'kubevirts', name: 'kubevirt' }
  expect(await reviewer.can({ ...asked, namespace })).toMatchObject({
    allowed: true,
    reason: expect.stringContaining('RoleBinding "b/a"'),
  })
  expect((await reviewer.can({ ...asked, namespace: 'b' })).allowed).toBe(false)
  expect((await reviewer.can({ ...asked, namespace, verb: 'patch' })).allowed).toBe(false)
})

test('a subresource is a resource of its own', async () => {
  const rules = [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }]
  const { reviewer } = as('x', role('ClusterRole', rules), binding('ClusterRoleBinding', 'ClusterRole'))
  const asked = { verb: 'get', group: '', resource: 'pods', namespace }
  expect((await reviewer.can({ ...asked, subresource: 'log' })).allowed).toBe(true)
  expect((await reviewer.can(asked)).allowed).toBe(false)
})

test('a watch that is forbidden is lost', async () => {
  const { reader } = as('x')
  for await (const change of reader.watch(KubeVirts, {}, new AbortController().signal)) {
    expect(change).toMatchObject({ type: 'lost', why: expect.stringContaining('cannot list') })
    break
  }
})

test('every request is in the audit log; reviews and dry runs are no writes', async () => {
  const { store } = as('x')
  const { writer, reviewer, reader } = storeCluster(store)
  await reader.list(ConfigMaps, { namespace })
  await reviewer.can({ verb: 'get', group: '', resource: 'pods' })
  await reviewer.dryRun.create(ConfigMaps, map('m'))
  await writer.create(ConfigMaps, map('m'))
  await writer.create(ConfigMaps, map('m')).catch(() => undefined)
  expect(store.audit.map(({ verb, resource, dryRun, status }) => [verb, resource, dryRun, status])).toEqual([
    ['list', 'configmaps', false, 200],
    ['create', 'selfsubjectaccessreviews', false, 200],
    ['create', 'configmaps', true, 200],
    ['create', 'configmaps', false, 200],
    ['create', 'configmaps', false, 409],
  ])
  expect(store.audit.filter(isWrite)).toHaveLength(1)
})
