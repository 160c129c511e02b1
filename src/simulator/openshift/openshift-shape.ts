import data from './platform.json' with { type: 'json' }

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

interface ConditionalEdge {
  to: string
  risk: string
  message: string
}

/** A MachineConfigPool. Names other than master and worker are custom pools, whose nodes are workers too. */
export interface PoolShape {
  name: string
  /** That many, named after the pool. */
  nodes: number
  paused?: boolean
  /** How many nodes are updated at a time, or how many in a hundred: `50%`; default 1. */
  maxUnavailable?: number | string
}

export interface HealthCheckShape {
  kind: 'MachineHealthCheck' | 'NodeHealthCheck'
  name: string
  pool: string
}

/** A platform release in numbers: `4.18.21`, `4.19.0-okd-scos.16`, of which the end is no pre-release: OKD counts on in it. Text that is no release is 0.0. */
export function releaseNumber(version = ''): { major: number; minor: number } {
  const [major = 0, minor = 0] = numbers(version)
  return { major, minor }
}

const numbers = (version: string): number[] => (version.match(/\d+/g) ?? []).map(Number)

/** Negative when a is older. */
export function compareReleases(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)]
  const length = Math.max(left.length, right.length)
  const differences = Array.from({ length }, (_, i) => (left[i] ?? 0) - (right[i] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}

export function sameMinor(a: string, b: string): boolean {
  const [left, right] = [releaseNumber(a), releaseNumber(b)]
  return left.major === right.major && left.minor === right.minor
}

/** The graph's release of that version. */
export const releaseOf = (graph: readonly Release[], version: string | undefined): Release | undefined =>
  graph.find((release) => release.version === version)

const pool = (name: string, nodes: number): PoolShape => ({ name, nodes })
const usual = [pool('master', 3), pool('worker', 3)]
const usualPools: Readonly<Record<Topology, readonly PoolShape[]>> = {
  HighlyAvailable: usual,
  SingleReplica: [pool('master', 1), pool('worker', 0)],
  External: [pool('worker', 3)],
}

/** Whose machines are there: as said, or as the topology has them. */
export const poolsOf = ({
  pools,
  topology = 'HighlyAvailable',
}: Pick<OpenShiftShape, 'pools' | 'topology'>): readonly PoolShape[] => pools ?? usualPools[topology]

export const nodeNames = ({ name, nodes }: PoolShape): readonly string[] =>
  Array.from({ length: nodes }, (_, i) => `${name}-${i}`)

/** 4.18 to 4.20: the newest 4.19, 4.19.17, has no edge into 4.20 yet, and the newest 4.18 reaches only one 4.19 without a risk. */
const { ocp, okd }: Readonly<Record<'ocp' | 'okd', readonly Release[]>> = data.graphs

/** OpenShift on 4.18 with a channel of its own minor, workers and a custom pool, and both kinds of health checks. */
export const ocp418to420: OpenShiftShape = {
  flavour: 'ocp',
  version: '4.18.21',
  channel: 'eus-4.18',
  graph: ocp,
  pools: [...usual, pool('gpu', 2)],
  healthChecks: [
    { kind: 'MachineHealthCheck', name: 'workers', pool: 'worker' },
    { kind: 'NodeHealthCheck', name: 'gpu-nodes', pool: 'gpu' },
  ],
}

/** OKD on 4.19: one channel for all minors. */
export const okd419: OpenShiftShape = {
  flavour: 'okd',
  version: '4.19.0-okd-scos.10',
  channel: 'stable-scos-4',
  graph: okd,
}
