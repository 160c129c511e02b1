import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'

export interface EndpointSlice extends KubeObject {
  addressType?: string
  /** A real server says null where there are none. */
  endpoints?:
    | {
        addresses?: string[]
        conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean }
        targetRef?: { kind?: string; name?: string; uid?: string }
      }[]
    | null
}

export const EndpointSlices: Kind<EndpointSlice> = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
}
