/** The platform of a simulated OKD or OpenShift cluster: its release, the graph that it is offered, its machines (ocp 3). */
export interface OpenShiftShape {
  flavour: 'ocp' | 'okd'
  /** The release that is installed: one of the graph's. */
  version: string
  channel: string
  graph: readonly Release[]
  /** Default: three masters and three workers, of which a single node and a hosted cluster have what they have. */
  pools?: readonly PoolShape[]
  /** Default `HighlyAvailable`. `External`: the control plane and its pools are somewhere else. */
  topology?: Topology
  /** ConfigMap openshift-config-managed/admin-gates: `ack-4.18-…` → the text (ocp 3.3). */
  adminGates?: Readonly<Record<string, string>>
  /** MachineHealthChecks and NodeHealthChecks, each over the nodes of one pool; default none. */
  healthChecks?: readonly HealthCheckShape[]
  /** Who may ask for alerts through the API server: default `guarded`, nobody, as a platform comes; `open`, who may `services/proxy`. */
  monitoring?: 'guarded' | 'open'
}

type Topology = 'HighlyAvailable' | 'SingleReplica' | 'External'

/** A node of the update graph, with the edges that leave it. An edge is offered where both ends are in the channel (ocp 3.7). */
export interface Release {
  /** `4.18.21`, `4.19.0-okd-scos.16`. */
  version: string
  image: string
  /** What its kube-apiserver and its kubelets are: `1.31.7`. */
  kubernetes: string
  channels: readonly string[]
  to: readonly string[]
  /** Edges that carry a risk which is taken to apply. */
  conditional?: readonly ConditionalEdge[]
}

export interface ConditionalEdge {
  to: string
  risk: string
  message: string
}

/** A MachineConfigPool. Names other than master and worker are custom pools, whose nodes are workers too. */
export interface PoolShape {
  name: string
  /** That many, named after the pool, or these names. */
  nodes: number | readonly string[]
  paused?: boolean
  /** How many nodes are updated at a time, or how many in a hundred: `50%`; default 1. */
  maxUnavailable?: number | string
}

export interface HealthCheckShape {
  kind: 'MachineHealthCheck' | 'NodeHealthCheck'
  name: string
  pool: string
}
