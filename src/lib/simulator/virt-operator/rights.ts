import {
  ClusterRoleBindings,
  ClusterRoles,
  type PolicyRule,
  ServiceAccounts,
} from '../../cluster/kinds/extension.ts'
import type { DeploymentConfig } from './deployment-config.ts'
import { type Managed, managed } from './managed.ts'
import { isAtLeast } from './version-order.ts'

const accounts = ['kubevirt-apiserver', 'kubevirt-controller', 'kubevirt-handler', 'kubevirt-exportproxy']
const role = (name: string, rules: PolicyRule[]): Managed => managed(ClusterRoles, { name }, { rules })
const reading = ['get', 'list', 'watch']

/** ServiceAccounts and roles of the operands; they are of the new release before any pod is (facts 2.7). */
export function rights({ namespace, kubeVirtVersion }: DeploymentConfig): Managed[] {
  const backup = isAtLeast(kubeVirtVersion, 8) ? ['backup.kubevirt.io'] : []
  const apiGroups = ['kubevirt.io', 'snapshot.kubevirt.io', ...backup]
  const migrations = {
    apiGroups: ['kubevirt.io'],
    resources: ['virtualmachineinstancemigrations'],
    verbs: ['*'],
  }
  return [
    role('kubevirt.io:admin', [{ apiGroups, resources: ['*'], verbs: ['*'] }]),
    role('kubevirt.io:edit', [{ apiGroups, resources: ['*'], verbs: [...reading, 'create', 'patch'] }]),
    role('kubevirt.io:view', [{ apiGroups, resources: ['*'], verbs: reading }]),
    role('kubevirt.io:migrate', [migrations]),
    ...accounts.flatMap((name) => [
      managed(ServiceAccounts, { name, namespace }),
      role(name, [{ apiGroups, resources: ['*'], verbs: [...reading, 'update'] }]),
      binding(name, namespace),
    ]),
  ]
}

function binding(name: string, namespace: string): Managed {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  return managed(
    ClusterRoleBindings,
    { name },
    { roleRef, subjects: [{ kind: 'ServiceAccount', name, namespace }] },
  )
}
