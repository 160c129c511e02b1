import { type Condition, type KubeObject, clusterKind, namespacedKind } from '../object.ts'

/** Which release a cluster runs and is asked for (ocp 3.1): one object, `version`. */
export interface ClusterVersion extends KubeObject {
  spec?: {
    channel?: string
    upstream?: string
    desiredUpdate?: DesiredUpdate | null
    overrides?: unknown[]
  }
  status?: {
    desired?: PlatformRelease
    /** The newest first. */
    history?: UpdateHistory[]
    observedGeneration?: number
    versionHash?: string
    /** Null: none, where RetrievedUpdates is True; else not retrieved. */
    availableUpdates?: PlatformRelease[] | null
    conditionalUpdates?: {
      release?: PlatformRelease
      risks?: { name?: string; message?: string; url?: string; matchingRules?: { type?: string }[] }[]
      conditions?: Condition[]
    }[]
    conditions?: Condition[]
  }
}

export interface DesiredUpdate {
  architecture?: string
  version?: string
  image?: string
  force?: boolean
}

export interface PlatformRelease {
  /** `Multi` for a release of all architectures; empty for one of a single one. */
  architecture?: string
  version?: string
  image?: string
  channels?: string[]
}

export interface UpdateHistory {
  state?: 'Completed' | 'Partial'
  version?: string
  image?: string
  startedTime?: string
  completionTime?: string | null
  verified?: boolean
}

export interface ClusterOperator extends KubeObject {
  status?: {
    versions?: { name?: string; version?: string }[]
    conditions?: Condition[]
  }
}

/** What the operator of kube-apiserver says in detail, `KubeletMinorVersionUpgradeable` among it; its ClusterOperator has the sums (ocp 3.4). */
interface KubeApiServer extends KubeObject {
  status?: { conditions?: Condition[] }
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
    configuration?: { name?: string; source?: { apiVersion?: string; kind?: string; name?: string }[] }
    machineConfigSelector?: {
      matchLabels?: Record<string, string>
      matchExpressions?: { key: string; operator: string; values?: string[] }[]
    }
    nodeSelector?: { matchLabels?: Record<string, string>; matchExpressions?: unknown[] }
  }
  status?: {
    observedGeneration?: number
    configuration?: { name?: string }
    machineCount?: number
    updatedMachineCount?: number
    readyMachineCount?: number
    unavailableMachineCount?: number
    degradedMachineCount?: number
    conditions?: Condition[]
    certExpirys?: { bundle?: string; subject?: string; expiry?: string }[]
  }
}

/** A source, or what a pool's sources were rendered to. */
export interface MachineConfig extends KubeObject {
  spec?: { osImageURL?: string; config?: unknown }
}

/** Watches machines of a node group and replaces unhealthy ones, unless it is paused by annotation (night E7). */
export interface MachineHealthCheck extends KubeObject {
  spec?: { maxUnhealthy?: number | string; selector?: { matchLabels?: Record<string, string> } }
  status?: { expectedMachines?: number; currentHealthy?: number; remediationsAllowed?: number }
}

export interface NodeHealthCheck extends KubeObject {
  spec?: {
    pauseRequests?: string[]
    minHealthy?: number | string
    selector?: { matchLabels?: Record<string, string> }
  }
  status?: { phase?: string; reason?: string; observedNodes?: number; healthyNodes?: number }
}

/** A node that was taken out of service by hand (ocp 6). */
export interface NodeMaintenance extends KubeObject {
  spec?: { nodeName?: string; reason?: string }
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

const config = 'config.openshift.io/v1'
const machineConfiguration = 'machineconfiguration.openshift.io/v1'

export const ClusterVersions = clusterKind<ClusterVersion>(config, 'ClusterVersion')

export const ClusterOperators = clusterKind<ClusterOperator>(config, 'ClusterOperator')

export const KubeApiServers = clusterKind<KubeApiServer>('operator.openshift.io/v1', 'KubeAPIServer')

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

export const NodeMaintenances = clusterKind<NodeMaintenance>(
  'nodemaintenance.medik8s.io/v1beta1',
  'NodeMaintenance',
)

/** As OpenShift Virtualization brought it along until 4.10. */
export const OldNodeMaintenances = clusterKind<NodeMaintenance>(
  'nodemaintenance.kubevirt.io/v1beta1',
  'NodeMaintenance',
)

export const ApiRequestCounts = clusterKind<ApiRequestCount>('apiserver.openshift.io/v1', 'APIRequestCount')

/** The Descheduler operator's resource. */
interface KubeDescheduler extends KubeObject {
  spec?: { mode?: string; managementState?: string }
}

export const KubeDeschedulers = namespacedKind<KubeDescheduler>('operator.openshift.io/v1', 'KubeDescheduler')
export const ClusterApiMachineHealthChecks = namespacedKind('cluster.x-k8s.io/v1beta1', 'MachineHealthCheck')

/** Where the cluster's Routes are (`cluster`). */
interface Ingress extends KubeObject {
  spec?: { domain?: string }
}

export interface Route extends KubeObject {
  spec?: { host?: string; to?: { kind?: string; name?: string }; alternateBackends?: unknown[] }
  /** What each router made of it. */
  status?: { ingress?: { host?: string; conditions?: Condition[] }[] }
}

export const Ingresses = clusterKind<Ingress>(config, 'Ingress', 'ingresses')

export const Routes = namespacedKind<Route>('route.openshift.io/v1', 'Route')
