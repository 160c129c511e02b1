import type { Condition, Kind, KubeObject } from '../object.ts'

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

export const CustomResourceDefinitions: Kind<CustomResourceDefinition> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}
export const ApiServices: Kind<ApiService> = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  plural: 'apiservices',
  namespaced: false,
}
export const ValidatingWebhooks: Kind<WebhookConfiguration> = {
  apiVersion: admission,
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
}
export const MutatingWebhooks: Kind<WebhookConfiguration> = {
  apiVersion: admission,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  namespaced: false,
}
export const ClusterRoles: Kind<Role> = {
  apiVersion: rbac,
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
}
export const ClusterRoleBindings: Kind<RoleBinding> = {
  apiVersion: rbac,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
}
export const Roles: Kind<Role> = { apiVersion: rbac, kind: 'Role', plural: 'roles', namespaced: true }
export const RoleBindings: Kind<RoleBinding> = {
  apiVersion: rbac,
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
}
export interface ServiceAccount extends KubeObject {
  automountServiceAccountToken?: boolean
}

export const ServiceAccounts: Kind<ServiceAccount> = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
}
export const PriorityClasses: Kind = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  namespaced: false,
}

/** A network beside that of the pods, for Multus; its config is JSON of the Container Network Interface. */
export interface NetworkAttachmentDefinition extends KubeObject {
  spec?: { config?: string }
}

export const NetworkAttachmentDefinitions: Kind<NetworkAttachmentDefinition> = {
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  plural: 'network-attachment-definitions',
  namespaced: true,
}
