import type { Kind } from '../../cluster/kind.ts'

export const Services: Kind = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }
