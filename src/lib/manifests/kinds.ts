import { ConfigMaps, Namespaces, PodDisruptionBudgets } from '../cluster/kinds/core.ts'
import { Deployments } from '../cluster/kinds/apps.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  CustomResourceDefinitions,
  PriorityClasses,
  RoleBindings,
  Roles,
  ServiceAccounts,
} from '../cluster/kinds/extension.ts'
import type { Kind } from '../cluster/kind.ts'
import type { KubeObject } from '../cluster/object.ts'
import { usageError } from '../system/errors.ts'
import { nameOf } from './name-of.ts'

const Services: Kind = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }
const NetworkPolicies: Kind = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  namespaced: true,
}

/**
 * Kinds that an operator manifest may hold, in the order in which they are applied: what others need comes first,
 * and the Deployment last, so that the new operator finds its rights (facts 7, issue PR 18497).
 */
const manifestKinds: readonly Kind[] = [
  Namespaces,
  CustomResourceDefinitions,
  PriorityClasses,
  ClusterRoles,
  ServiceAccounts,
  Roles,
  RoleBindings,
  ClusterRoleBindings,
  ConfigMaps,
  Services,
  NetworkPolicies,
  PodDisruptionBudgets,
  Deployments,
]

/** Throws `usage` for a kind that no operator manifest of KubeVirt holds: kvup applies nothing it does not know. */
export function kindOf(object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): Kind {
  const kind = manifestKinds.find((k) => k.kind === object.kind && k.apiVersion === object.apiVersion)
  if (kind !== undefined) return kind
  throw usageError(
    'unknown-kind',
    `the manifest holds ${nameOf(object)} (${object.apiVersion}), a kind that does not belong into an operator manifest`,
    { remedy: 'take it out of the file and apply it yourself: kubectl apply --server-side -f FILE' },
  )
}

/** A copy in the order of `manifestKinds`; within a kind as in the file. */
export function inApplyOrder(objects: readonly KubeObject[]): KubeObject[] {
  return objects.toSorted((a, b) => place(a) - place(b))
}

const place = (object: KubeObject) => manifestKinds.indexOf(kindOf(object))
