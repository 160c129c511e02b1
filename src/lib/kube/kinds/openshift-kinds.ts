import {
  type Conditions,
  type KubeObject,
  type Numbers,
  type Texts,
  clusterKind,
  namespacedKind,
} from '../object.ts'
import type { LabelSelector } from '../selectors.ts'

/** Which release a cluster runs and is asked for (ocp 3.1): one object, `version`. */
export interface ClusterVersion extends KubeObject {
  spec?: Texts<'channel' | 'upstream'> & { desiredUpdate?: DesiredUpdate | null; overrides?: unknown[] }
  status?: Conditions & {
    desired?: PlatformRelease
    /** The newest first. */
    history?: UpdateHistory[]
    observedGeneration?: number
    versionHash?: string
    /** Null: none, where RetrievedUpdates is True; else not retrieved. */
    availableUpdates?: PlatformRelease[] | null
    conditionalUpdates?: (Conditions & {
      release?: PlatformRelease
      risks?: (Texts<'name' | 'message' | 'url'> & { matchingRules?: { type?: string }[] })[]
    })[]
  }
}

interface DesiredUpdate extends Texts<'architecture' | 'version' | 'image'> {
  force?: boolean
}

/** `architecture`: `Multi` for a release of all architectures; empty for one of a single one. */
export interface PlatformRelease extends Texts<'architecture' | 'version' | 'image'> {
  channels?: string[]
}

export interface UpdateHistory extends Texts<'version' | 'image' | 'startedTime'> {
  state?: 'Completed' | 'Partial'
  completionTime?: string | null
  verified?: boolean
}

export interface ClusterOperator extends KubeObject {
  status?: Conditions & { versions?: Texts<'name' | 'version'>[] }
}

/** What the operator of kube-apiserver says in detail, `KubeletMinorVersionUpgradeable` among it; its ClusterOperator has the sums (ocp 3.4). */
interface KubeApiServer extends KubeObject {
  status?: Conditions
}

/** Of what a cluster's nodes and control plane are (`cluster`). */
export interface Infrastructure extends KubeObject {
  status?: {
    /** `External`: a hosted control plane. */
    controlPlaneTopology?: string
    infrastructureTopology?: string
    /** What a managed service tags its cloud resources with is repeated here. */
    platformStatus?: {
      aws?: { resourceTags?: { key: string; value: string }[] }
      gcp?: { resourceLabels?: { key: string; value: string }[] }
    }
  }
}

/** Nodes that share a rendered configuration; paused, they keep their old one (ocp 3.5). */
export interface MachineConfigPool extends KubeObject {
  spec?: {
    paused?: boolean
    maxUnavailable?: number | string
    configuration?: { name?: string; source?: Texts<'apiVersion' | 'kind' | 'name'>[] }
    machineConfigSelector?: LabelSelector
    nodeSelector?: { matchLabels?: Record<string, string>; matchExpressions?: unknown[] }
  }
  status?: Conditions &
    Numbers<
      'observedGeneration' | `${'m' | `${'updated' | 'ready' | 'unavailable' | 'degraded'}M`}achineCount`
    > & {
      configuration?: { name?: string }
      certExpirys?: Texts<'bundle' | 'subject' | 'expiry'>[]
    }
}

/** A source, or what a pool's sources were rendered to. */
export interface MachineConfig extends KubeObject {
  spec?: { osImageURL?: string; config?: unknown }
}

/** Watches machines of a node group and replaces unhealthy ones, unless it is paused by annotation (night E7). */
export interface MachineHealthCheck extends KubeObject {
  spec?: { maxUnhealthy?: number | string; selector?: { matchLabels?: Record<string, string> } }
  status?: Numbers<'expectedMachines' | 'currentHealthy' | 'remediationsAllowed'>
}

export interface NodeHealthCheck extends KubeObject {
  spec?: {
    pauseRequests?: string[]
    minHealthy?: number | string
    selector?: { matchLabels?: Record<string, string> }
  }
  status?: Texts<'phase' | 'reason'> & Numbers<'observedNodes' | 'healthyNodes'>
}

/** A node that was taken out of service by hand (ocp 6). */
export interface NodeMaintenance extends KubeObject {
  spec?: Texts<'nodeName' | 'reason'>
}

/** How often a resource was asked for, named `flowschemas.v1beta3.flowcontrol.apiserver.k8s.io`. */
interface ApiRequestCount extends KubeObject {
  status?: {
    /** The Kubernetes that lacks it, `1.32`; absent where none is known. */
    removedInRelease?: string
    /** In the last 24 hours. */
    requestCount?: number
  }
}

/** The Descheduler operator's resource. */
interface KubeDescheduler extends KubeObject {
  spec?: Texts<'mode' | 'managementState'>
}

/** Where the cluster's Routes are (`cluster`). */
interface Ingress extends KubeObject {
  spec?: { domain?: string }
}

export interface Route extends KubeObject {
  spec?: { host?: string; to?: Texts<'kind' | 'name'>; alternateBackends?: unknown[] }
  /** What each router made of it. */
  status?: { ingress?: (Conditions & { host?: string })[] }
}

const config = 'config.openshift.io/v1'
const machineConfiguration = 'machineconfiguration.openshift.io/v1'
const operator = 'operator.openshift.io/v1'
const maintenance = (group: string) =>
  clusterKind<NodeMaintenance>(`nodemaintenance.${group}/v1beta1`, 'NodeMaintenance')

export const ClusterVersions = clusterKind<ClusterVersion>(config, 'ClusterVersion')
export const ClusterOperators = clusterKind<ClusterOperator>(config, 'ClusterOperator')
export const KubeApiServers = clusterKind<KubeApiServer>(operator, 'KubeAPIServer')
export const Infrastructures = clusterKind<Infrastructure>(config, 'Infrastructure')
export const MachineConfigPools = clusterKind<MachineConfigPool>(machineConfiguration, 'MachineConfigPool')
export const MachineConfigs = clusterKind<MachineConfig>(machineConfiguration, 'MachineConfig')
export const MachineHealthChecks = namespacedKind<MachineHealthCheck>(
  'machine.openshift.io/v1beta1',
  'MachineHealthCheck',
)
export const NodeHealthChecks = clusterKind<NodeHealthCheck>(
  'remediation.medik8s.io/v1alpha1',
  'NodeHealthCheck',
)
export const NodeMaintenances = maintenance('medik8s.io')
/** As OpenShift Virtualization brought it along until 4.10. */
export const OldNodeMaintenances = maintenance('kubevirt.io')
export const ApiRequestCounts = clusterKind<ApiRequestCount>('apiserver.openshift.io/v1', 'APIRequestCount')
export const KubeDeschedulers = namespacedKind<KubeDescheduler>(operator, 'KubeDescheduler')
export const ClusterApiMachineHealthChecks = namespacedKind('cluster.x-k8s.io/v1beta1', 'MachineHealthCheck')
export const Ingresses = clusterKind<Ingress>(config, 'Ingress', 'ingresses')
export const Routes = namespacedKind<Route>('route.openshift.io/v1', 'Route')
