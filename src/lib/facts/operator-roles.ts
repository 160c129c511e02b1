import type { Reader } from '../cluster/cluster.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
} from '../cluster/kinds/extension.ts'

interface Account {
  name: string
  namespace: string
}

/**
 * The ClusterRoles and Roles that a ServiceAccount has, by whichever binding: aggregated ClusterRoles hold their rules as the
 * cluster filled them in. Roles of KubeVirt's namespace only. Throws ApiError.
 */
export async function rolesOf(reader: Reader, account: Account): Promise<Role[]> {
  const { namespace } = account
  const [everywhere, here] = await Promise.all([
    bindings(reader.pages(ClusterRoleBindings), account),
    bindings(reader.pages(RoleBindings, { namespace }), account),
  ])
  const clusterRoles = [...everywhere, ...here].flatMap(namesOf('ClusterRole'))
  const found = await Promise.all([
    ...[...new Set(clusterRoles)].map(async (name) => reader.find(ClusterRoles, { name })),
    ...[...new Set(here.flatMap(namesOf('Role')))].map(async (name) =>
      reader.find(Roles, { name, namespace }),
    ),
  ])
  return found.flatMap((one) => (one.is === 'object' ? [one.object] : []))
}

async function bindings(
  pages: AsyncIterable<{ items: readonly RoleBinding[] }>,
  account: Account,
): Promise<RoleBinding[]> {
  const found: RoleBinding[] = []
  for await (const { items } of pages) found.push(...items.filter((binding) => binds(binding, account)))
  return found
}

function binds({ subjects = [] }: RoleBinding, { name, namespace }: Account): boolean {
  const groups = new Set([
    'system:serviceaccounts',
    `system:serviceaccounts:${namespace}`,
    'system:authenticated',
  ])
  return subjects.some((subject) =>
    subject.kind === 'ServiceAccount'
      ? subject.name === name && subject.namespace === namespace
      : subject.kind === 'Group' && groups.has(subject.name),
  )
}

function namesOf(kind: 'ClusterRole' | 'Role') {
  return ({ roleRef }: RoleBinding): string[] => (roleRef?.kind === kind ? [roleRef.name] : [])
}
