import { type Condition, type KubeObject, clusterKind, namespacedKind } from '../object.ts'
import type { LabelSelector } from '../selectors.ts'

export interface Node extends KubeObject {
  spec?: {
    unschedulable?: boolean
    taints?: { key: string; value?: string; effect: string; timeAdded?: string }[]
  }
  status?: {
    conditions?: Condition[]
    capacity?: Record<string, string>
    allocatable?: Record<string, string>
    addresses?: { type: string; address: string }[]
    nodeInfo?: {
      kubeletVersion?: string
      containerRuntimeVersion?: string
      architecture?: string
      osImage?: string
      kernelVersion?: string
    }
  }
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>
  /** base64 */
  binaryData?: Record<string, string>
  immutable?: boolean
}

export interface Secret extends KubeObject {
  data?: Record<string, string>
  type?: string
}

export interface Namespace extends KubeObject {
  status?: { phase?: string }
}

export interface Event extends KubeObject {
  type?: string
  reason?: string
  message?: string
  count?: number
  firstTimestamp?: string | null
  lastTimestamp?: string | null
  eventTime?: string | null
  involvedObject?: { apiVersion?: string; kind?: string; namespace?: string; name?: string; uid?: string }
  source?: { component?: string; host?: string }
}

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string | null
    leaseDurationSeconds?: number | null
    /** RFC 3339 with microseconds. */
    acquireTime?: string | null
    renewTime?: string | null
    leaseTransitions?: number | null
  }
}

export interface PodDisruptionBudget extends KubeObject {
  spec?: {
    minAvailable?: number | string
    maxUnavailable?: number | string
    selector?: LabelSelector
  }
  status?: {
    disruptionsAllowed?: number
    currentHealthy?: number
    desiredHealthy?: number
    expectedPods?: number
    conditions?: Condition[]
  }
}

export const Nodes = clusterKind<Node>('v1', 'Node')
export const ConfigMaps = namespacedKind<ConfigMap>('v1', 'ConfigMap')
export const Secrets = namespacedKind<Secret>('v1', 'Secret')
export const Namespaces = clusterKind<Namespace>('v1', 'Namespace')
export const Events = namespacedKind<Event>('v1', 'Event')
export const Leases = namespacedKind<Lease>('coordination.k8s.io/v1', 'Lease')
export const PodDisruptionBudgets = namespacedKind<PodDisruptionBudget>('policy/v1', 'PodDisruptionBudget')

export interface PersistentVolumeClaim extends KubeObject {
  spec?: { volumeName?: string }
  status?: { phase?: string }
}
export const PersistentVolumeClaims = namespacedKind<PersistentVolumeClaim>('v1', 'PersistentVolumeClaim')

interface Requirement {
  key: string
  operator: string
  values?: string[]
}

/** A local one names the nodes on which it can be used. */
interface PersistentVolume extends KubeObject {
  spec?: {
    nodeAffinity?: {
      required?: { nodeSelectorTerms?: { matchExpressions?: Requirement[]; matchFields?: Requirement[] }[] }
    }
  }
}
export const PersistentVolumes = clusterKind<PersistentVolume>('v1', 'PersistentVolume')

export interface ResourceQuota extends KubeObject {
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

export const ResourceQuotas = namespacedKind<ResourceQuota>('v1', 'ResourceQuota')

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

export const EndpointSlices = namespacedKind<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice')

/** A taint of a node. */
export type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** What a pod puts up with. */
export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
}
