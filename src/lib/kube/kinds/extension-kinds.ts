import { type Condition, type KubeObject, clusterKind, namespacedKind } from '../object.ts'

export interface CustomResourceDefinition extends KubeObject {
  spec?: {
    group?: string
    names?: {
      plural?: string
      singular?: string
      kind?: string
      shortNames?: string[]
      listKind?: string
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
  status?: { conditions?: Condition[]; storedVersions?: string[] }
}

export interface ApiService extends KubeObject {
  spec?: {
    group?: string
    version?: string
    service?: { namespace?: string; name?: string; port?: number } | null
    caBundle?: string
  }
  status?: { conditions?: Condition[] }
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
  rules?: { apiGroups?: string[]; apiVersions?: string[]; operations?: string[]; resources?: string[] }[]
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

const admission = 'admissionregistration.k8s.io/v1'
const rbac = 'rbac.authorization.k8s.io/v1'

export const CustomResourceDefinitions = clusterKind<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
)
export const ApiServices = clusterKind<ApiService>('apiregistration.k8s.io/v1', 'APIService')
export const ValidatingWebhooks = clusterKind<WebhookConfiguration>(
  admission,
  'ValidatingWebhookConfiguration',
)
export const MutatingWebhooks = clusterKind<WebhookConfiguration>(admission, 'MutatingWebhookConfiguration')
export const ClusterRoles = clusterKind<Role>(rbac, 'ClusterRole')
export const ClusterRoleBindings = clusterKind<RoleBinding>(rbac, 'ClusterRoleBinding')
export const Roles = namespacedKind<Role>(rbac, 'Role')
export const RoleBindings = namespacedKind<RoleBinding>(rbac, 'RoleBinding')
export interface ServiceAccount extends KubeObject {
  automountServiceAccountToken?: boolean
}

export const ServiceAccounts = namespacedKind<ServiceAccount>('v1', 'ServiceAccount')
export const PriorityClasses = clusterKind('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses')

/** A network beside that of the pods, for Multus; its config is JSON of the Container Network Interface. */
export interface NetworkAttachmentDefinition extends KubeObject {
  spec?: { config?: string }
}

export const NetworkAttachmentDefinitions = namespacedKind<NetworkAttachmentDefinition>(
  'k8s.cni.cncf.io/v1',
  'NetworkAttachmentDefinition',
  'network-attachment-definitions',
)
