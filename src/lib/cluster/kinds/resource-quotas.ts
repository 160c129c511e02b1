import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'

export interface ResourceQuota extends KubeObject {
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

export const ResourceQuotas: Kind<ResourceQuota> = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
}
