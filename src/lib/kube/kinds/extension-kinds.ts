import { type Conditions, type KubeObject, type Texts, clusterKind, namespacedKind } from '../object.ts'

export interface CustomResourceDefinition extends KubeObject {
  spec?: {
    group?: string
    names?: Texts<'plural' | 'singular' | 'kind' | 'listKind'> & {
      shortNames?: string[]
      categories?: string[]
    }
    scope?: string
    conversion?: { strategy?: string }
    versions?: {
      name: string
      served?: boolean
      storage?: boolean
      schema?: unknown
      subresources?: Record<string, unknown>
    }[]
  }
  status?: Conditions & { storedVersions?: string[] }
}

export interface ApiService extends KubeObject {
  spec?: Texts<'group' | 'version' | 'caBundle'> & {
    service?: { namespace?: string; name?: string; port?: number } | null
  }
  status?: Conditions
}

export interface WebhookConfiguration extends KubeObject {
  webhooks?: Webhook[]
}

export interface Webhook {
  name: string
  failurePolicy?: string
  sideEffects?: string
  admissionReviewVersions?: string[]
  clientConfig?: {
    service?: { namespace: string; name: string; path?: string; port?: number }
    caBundle?: string
  }
  rules?: { [List in 'apiGroups' | 'apiVersions' | 'operations' | 'resources']?: string[] }[]
}

export interface PolicyRule {
  apiGroups?: string[]
  resources?: string[]
  verbs: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}

export interface Role extends KubeObject {
  rules?: PolicyRule[]
}

export interface RoleBinding extends KubeObject {
  roleRef?: { apiGroup: string; kind: string; name: string }
  subjects?: { kind: string; name: string; namespace?: string; apiGroup?: string }[]
}

export interface ServiceAccount extends KubeObject {
  automountServiceAccountToken?: boolean
}

/** A network beside that of the pods, for Multus; its config is JSON of the Container Network Interface. */
export interface NetworkAttachmentDefinition extends KubeObject {
  spec?: { config?: string }
}

const webhooks = (kind: 'Validating' | 'Mutating') =>
  clusterKind<WebhookConfiguration>('admissionregistration.k8s.io/v1', `${kind}WebhookConfiguration`)
const rbac = 'rbac.authorization.k8s.io/v1'

export const CustomResourceDefinitions = clusterKind<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
)
export const ApiServices = clusterKind<ApiService>('apiregistration.k8s.io/v1', 'APIService')
export const ValidatingWebhooks = webhooks('Validating')
export const MutatingWebhooks = webhooks('Mutating')
export const ClusterRoles = clusterKind<Role>(rbac, 'ClusterRole')
export const ClusterRoleBindings = clusterKind<RoleBinding>(rbac, 'ClusterRoleBinding')
export const Roles = namespacedKind<Role>(rbac, 'Role')
export const RoleBindings = namespacedKind<RoleBinding>(rbac, 'RoleBinding')
export const ServiceAccounts = namespacedKind<ServiceAccount>('v1', 'ServiceAccount')
export const PriorityClasses = clusterKind('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses')
export const NetworkAttachmentDefinitions = namespacedKind<NetworkAttachmentDefinition>(
  'k8s.cni.cncf.io/v1',
  'NetworkAttachmentDefinition',
  'network-attachment-definitions',
)
