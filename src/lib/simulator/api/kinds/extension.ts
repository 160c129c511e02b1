import {
  ApiServices,
  ClusterRoleBindings,
  ClusterRoles,
  CustomResourceDefinitions,
  MutatingWebhooks,
  RoleBindings,
  type RoleBinding,
  Roles,
  ValidatingWebhooks,
  type WebhookConfiguration,
} from '../../../cluster/kinds/extension.ts'
import { ageColumn, column, nameColumn } from '../column.ts'
import { at, items, text } from '../json.ts'
import type { SimKind } from '../sim-kind.ts'
import { builtIn } from './make-kind.ts'

const roleColumn = column('Role', (o) => {
  const { roleRef } = o as RoleBinding
  return `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`
})

const webhooks = column('Webhooks', (o) => (o as WebhookConfiguration).webhooks?.length ?? 0, 'integer')

const question = { verbs: ['create'] }
const asked = (group: string, kind: string) => ({
  apiVersion: `${group}.k8s.io/v1`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
})

export const extensionKinds: readonly SimKind[] = [
  builtIn(CustomResourceDefinitions, {
    shortNames: ['crd', 'crds'],
    status: true,
    generation: 'spec',
    columns: [nameColumn, column('Created At', (o) => o.metadata.creationTimestamp ?? '')],
  }),
  builtIn(ApiServices, {
    status: true,
    columns: [
      nameColumn,
      column('Service', (o) => {
        const service = at(o, 'spec', 'service')
        return service ? `${text(service, 'namespace')}/${text(service, 'name')}` : 'Local'
      }),
      column('Available', (o) => {
        const available = items(o, 'status', 'conditions').find((c) => c['type'] === 'Available')
        if (available?.['status'] === 'True') return 'True'
        return available ? `False (${text(available, 'reason')})` : 'Unknown'
      }),
      ageColumn,
    ],
  }),
  builtIn(ValidatingWebhooks, { generation: 'spec', columns: [nameColumn, webhooks, ageColumn] }),
  builtIn(MutatingWebhooks, { generation: 'spec', columns: [nameColumn, webhooks, ageColumn] }),
  builtIn(asked('authorization', 'SelfSubjectAccessReview'), question),
  builtIn(asked('authorization', 'SelfSubjectRulesReview'), question),
  builtIn(asked('authentication', 'SelfSubjectReview'), question),
  builtIn(Roles, { columns: [nameColumn, column('Created At', (o) => o.metadata.creationTimestamp ?? '')] }),
  builtIn(ClusterRoles, {
    columns: [nameColumn, column('Created At', (o) => o.metadata.creationTimestamp ?? '')],
  }),
  builtIn(RoleBindings, { columns: [nameColumn, roleColumn, ageColumn] }),
  builtIn(ClusterRoleBindings, { columns: [nameColumn, roleColumn, ageColumn] }),
]
