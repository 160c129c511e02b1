import {
  ClusterRoleBindings,
  ClusterRoles,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
} from '../../src/lib/kube/kinds/extension-kinds.ts'
import type { Stage } from './stage.ts'

const apiGroup = 'rbac.authorization.k8s.io'

/** Puts these roles into the cluster and binds each to that user, where it lies. */
export function grantTo({ simulated: { store } }: Stage, user: string, roles: readonly Role[]): void {
  for (const role of roles) {
    const { name, namespace } = role.metadata
    const isLocal = namespace !== undefined
    store.put(isLocal ? Roles : ClusterRoles, role)
    const kind = isLocal ? RoleBindings : ClusterRoleBindings
    const binding: RoleBinding = {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name, ...(isLocal && { namespace }) },
      roleRef: { apiGroup, kind: isLocal ? 'Role' : 'ClusterRole', name },
      subjects: [{ kind: 'User', name: user, apiGroup }],
    }
    store.put(kind, binding)
  }
}
