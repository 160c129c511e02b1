import {
  ApiServices,
  ClusterRoleBindings,
  ClusterRoles,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  MutatingWebhooks,
  RoleBindings,
  type RoleBinding,
  Roles,
  ValidatingWebhooks,
  type WebhookConfiguration,
} from '../../../cluster/kinds/extension.ts'
import type { KubeObject } from '../../../cluster/object.ts'
import { ageColumn, column, nameColumn } from '../column.ts'
import { at, items, text } from '../json.ts'
import type { FieldError } from '../refusal.ts'
import type { SimKind } from '../sim-kind.ts'
import { builtIn } from './make-kind.ts'

const roleColumn = column('Role', (o) => {
  const { roleRef } = o as RoleBinding
  return `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`
})

const webhooks = column('Webhooks', (o) => (o as WebhookConfiguration).webhooks?.length ?? 0, 'integer')

/** A version that becomes the stored one is kept in mind beside those that were it before, in the same write. */
function rememberStored(object: KubeObject): void {
  const definition = object as CustomResourceDefinition
  const stored = definition.spec?.versions?.find(({ storage }) => storage)?.name
  const known = definition.status?.storedVersions ?? []
  if (stored === undefined || known.includes(stored)) return
  definition.status = { ...definition.status, storedVersions: [...known, stored] }
}

/** A version that is stored cannot be dropped. */
function keepsStoredVersions(object: KubeObject): FieldError[] {
  const { spec, status } = object as CustomResourceDefinition
  return (status?.storedVersions ?? []).flatMap((name, index) =>
    spec?.versions?.some((version) => version.name === name)
      ? []
      : [
          {
            field: `status.storedVersions[${index}]`,
            reason: 'FieldValueInvalid' as const,
            message: `Invalid value: "${name}": missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
          },
        ],
  )
}

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
    defaults: rememberStored,
    validate: keepsStoredVersions,
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
