import type { Kind } from '../../cluster/kind.ts'

/** Kinds that only the operator and its manifest know of. */
export const Services: Kind = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }
export const PriorityClasses: Kind = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  namespaced: false,
}
