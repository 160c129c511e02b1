import {
  type Conditions,
  type KubeObject,
  type Numbers,
  type Texts,
  clusterKind,
  namespacedKind,
} from '../object.ts'
import type { LabelSelector } from '../selectors.ts'

export interface Node extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: Taint[] }
  status?: Conditions & {
    capacity?: Record<string, string>
    allocatable?: Record<string, string>
    addresses?: { type: string; address: string }[]
    nodeInfo?: Texts<
      'kubeletVersion' | 'containerRuntimeVersion' | 'architecture' | 'osImage' | 'kernelVersion'
    >
  }
}

/** Of a node. */
export interface Taint extends Texts<'value' | 'timeAdded'> {
  key: string
  effect: string
}

/** What a pod puts up with. */
export type Toleration = Texts<'key' | 'operator' | 'value' | 'effect'>

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

export interface Event extends KubeObject, Texts<'type' | 'reason' | 'message'> {
  count?: number
  firstTimestamp?: string | null
  lastTimestamp?: string | null
  eventTime?: string | null
  involvedObject?: Texts<'apiVersion' | 'kind' | 'namespace' | 'name' | 'uid'>
  source?: Texts<'component' | 'host'>
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
  spec?: { minAvailable?: number | string; maxUnavailable?: number | string; selector?: LabelSelector }
  status?: Conditions & Numbers<'disruptionsAllowed' | 'currentHealthy' | 'desiredHealthy' | 'expectedPods'>
}

export interface PersistentVolumeClaim extends KubeObject {
  spec?: { volumeName?: string }
  status?: { phase?: string }
}

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

export interface ResourceQuota extends KubeObject {
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

interface Endpoint {
  addresses?: string[]
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean }
  targetRef?: Texts<'kind' | 'name' | 'uid'>
}

export interface EndpointSlice extends KubeObject {
  addressType?: string
  /** A real server says null where there are none. */
  endpoints?: Endpoint[] | null
}

export const Nodes = clusterKind<Node>('v1', 'Node')
export const ConfigMaps = namespacedKind<ConfigMap>('v1', 'ConfigMap')
export const Secrets = namespacedKind<Secret>('v1', 'Secret')
export const Namespaces = clusterKind<Namespace>('v1', 'Namespace')
export const Events = namespacedKind<Event>('v1', 'Event')
export const Leases = namespacedKind<Lease>('coordination.k8s.io/v1', 'Lease')
export const PodDisruptionBudgets = namespacedKind<PodDisruptionBudget>('policy/v1', 'PodDisruptionBudget')
export const PersistentVolumeClaims = namespacedKind<PersistentVolumeClaim>('v1', 'PersistentVolumeClaim')
export const PersistentVolumes = clusterKind<PersistentVolume>('v1', 'PersistentVolume')
export const ResourceQuotas = namespacedKind<ResourceQuota>('v1', 'ResourceQuota')
export const EndpointSlices = namespacedKind<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice')
