import { describe, expect, test } from 'vitest'
import type { Access } from '../../../src/lib/kube/cluster.ts'
import type { Role } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import {
  accessOf,
  bindingCommands,
  probeAccess,
  reasonsFor,
  requiredAccess,
  roleFor,
  rolesFor,
  statusAccess,
} from '../../../src/lib/upgrade/roles.ts'
import { lesserRoles, type RoleName, roleNames } from '../../../src/lib/upgrade/role-rights.ts'

/** As RBAC answers for somebody who has both parts bound. */
function allows([cluster, inNamespace]: readonly Role[], access: Access, home: string): boolean {
  const roles = access.namespace === home ? [cluster, inNamespace] : [cluster]
  const resource = [access.resource, access.subresource].filter(Boolean).join('/')
  return roles
    .flatMap((role) => role?.rules ?? [])
    .some(
      (rule) =>
        rule.verbs.includes(access.verb) &&
        rule.apiGroups?.includes(access.group) &&
        rule.resources?.includes(resource) &&
        (rule.resourceNames === undefined || rule.resourceNames.includes(access.name ?? '')),
    )
}

describe.each(roleNames)('%s', (name) => {
  const [cluster, inNamespace] = rolesFor(name, 'virt')

  test('grants everything that its preflight asks for, and everything of the lesser roles', () => {
    const lesser = lesserRoles[name]
    const asked = lesser.flatMap((role) => accessOf(role, 'virt'))
    const refused = asked.filter(({ access }) => !allows([cluster, inNamespace], access, 'virt'))
    expect(refused).toEqual([])
    expect(asked.length).toBeGreaterThan(20)
  })

  test('has no wildcard, reads no Secret, and grants nothing that is not asked for', () => {
    const rules = [...(cluster.rules ?? []), ...(inNamespace.rules ?? [])]
    const text = JSON.stringify(rules)
    expect(text).not.toContain('*')
    expect(text).not.toContain('secrets')
    const granted = rules.flatMap((rule) =>
      rule.verbs.flatMap((verb) => (rule.resources ?? []).map((resource) => `${verb} ${resource}`)),
    )
    const probes = name === 'kvup-view' ? [] : probeAccess('virt')
    const asked = new Set(
      [...accessOf(name, 'virt'), ...probes, ...statusAccess('virt')].map(
        ({ access: { verb, resource, subresource } }) =>
          `${verb} ${[resource, subresource].filter(Boolean).join('/')}`,
      ),
    )
    expect(granted.filter((right) => !asked.has(right))).toEqual([])
  })

  test('says of every rule what it is for', () => {
    const reasons = reasonsFor(name)
    const [, , inCatalog] = rolesFor(name, 'virt', 'catalogs')
    expect(reasons.map((r) => r.length)).toEqual(
      [cluster, inNamespace, inCatalog].map((role) => role?.rules?.length),
    )
    expect(reasons.flat().every((reason) => reason.length > 10)).toBe(true)
  })
})

const verbs = (role: 'kvup-view' | 'kvup-upgrade' | 'kvup-operator-manifest') =>
  new Set(accessOf(role, 'virt').map(({ access }) => access.verb))

test('only what it says: view changes nothing, upgrade cannot escalate', () => {
  expect([...verbs('kvup-view')].sort()).toEqual(['get', 'list', 'watch'])
  expect(verbs('kvup-upgrade').has('escalate')).toBe(false)
  expect(verbs('kvup-operator-manifest').has('escalate')).toBe(true)
})

const asked = (needed: readonly { access: Access }[]) =>
  needed.map(({ access: { verb, resource } }) => `${verb} ${resource}`)

test('what only checks read is granted, and no upgrade asks for it', () => {
  expect(asked(accessOf('kvup-view', 'virt'))).toContain('list customresourcedefinitions')
  expect(asked(requiredAccess('image-tag', 'virt'))).not.toContain('list customresourcedefinitions')
})

test('what is above KubeVirt may be read, and no check and no upgrade asks for it', () => {
  const shown = asked(statusAccess('virt'))
  expect(shown).toEqual(expect.arrayContaining(['list clusterversions', 'watch installplans']))
  const preflights = [accessOf('kvup-operator-manifest', 'virt'), requiredAccess('operator-manifest', 'virt')]
  expect(asked(preflights.flat()).filter((one) => one.includes('clusterversions'))).toEqual([])
})

test('pods are made and deleted only by kvup check --probe-images: nobody else asks for it', () => {
  expect(asked(probeAccess('virt'))).toEqual(['create pods', 'delete pods'])
  const others = [
    ...accessOf('kvup-operator-manifest', 'virt'),
    ...requiredAccess('operator-manifest', 'virt'),
  ]
  expect(asked(others).filter((right) => right === 'create pods' || right === 'delete pods')).toEqual([])
})

test('a method needs its role; journal and lock are asked for by name, in KubeVirt’s namespace', () => {
  expect(roleFor('image-tag')).toBe('kvup-upgrade')
  expect(roleFor('operator-manifest')).toBe('kvup-operator-manifest')
  const needed = requiredAccess('image-tag', 'virt')
  expect(needed).toContainEqual({
    access: {
      verb: 'patch',
      group: 'coordination.k8s.io',
      resource: 'leases',
      namespace: 'virt',
      name: 'kvup',
    },
    why: 'keep the lock',
    optional: false,
  })
  expect(needed).toContainEqual({
    access: { verb: 'get', group: '', resource: 'pods', subresource: 'log', namespace: 'virt' },
    why: 'quote the last log line of a pod that fails',
    optional: true,
  })
})

test('the namespace of KubeVirt is part of roles and commands', () => {
  const [cluster, inNamespace] = rolesFor('kvup-operator-manifest', 'virt')
  expect(inNamespace.metadata.namespace).toBe('virt')
  const namespaces = cluster.rules?.filter((rule) => rule.resources?.includes('namespaces'))
  expect(namespaces?.map(({ resourceNames }) => resourceNames)).toEqual([['kube-system'], ['virt']])
  expect(bindingCommands('kvup-view', 'virt')).toEqual([
    'kubectl create clusterrolebinding kvup-view --clusterrole=kvup-view --user=NAME',
    'kubectl -n virt create rolebinding kvup-view --role=kvup-view --user=NAME',
  ])
})

test.each<[RoleName, readonly string[]]>([
  ['kvup-view', ['list batch/jobs']],
  ['kvup-olm', ['list batch/jobs', 'get /configmaps']],
  ['kvup-eus', ['list batch/jobs', 'get /configmaps']],
])(
  '%s: the part in the namespace of the catalog is made where that is said, and is no larger',
  (name, rights) => {
    expect(rolesFor(name, 'virt')).toHaveLength(2)
    const [cluster, inNamespace, inCatalog] = rolesFor(name, 'virt', 'catalogs')
    expect(inCatalog?.metadata).toMatchObject({ name, namespace: 'catalogs' })
    const granted = (inCatalog?.rules ?? []).map(
      ({ verbs: can, apiGroups = [], resources = [] }) =>
        `${can.join()} ${apiGroups.join()}/${resources.join()}`,
    )
    expect(granted).toEqual(rights)
    expect([cluster, inNamespace]).toEqual(rolesFor(name, 'virt'))
    expect(bindingCommands(name, 'virt', 'catalogs')).toContain(
      `kubectl -n catalogs create rolebinding ${name} --role=${name} --user=NAME`,
    )
  },
)

test('a catalog beside KubeVirt: neither part takes the place of the other', () => {
  const [, ...local] = rolesFor('kvup-olm', 'virt', 'virt')
  expect(local.map(({ metadata }) => metadata.name)).toEqual(['kvup-olm', 'kvup-olm-catalog'])
})
