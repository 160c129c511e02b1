import { createHash } from 'node:crypto'

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

/** A platform release in numbers: `4.18.21`, `4.19.0-okd-scos.16`. */
interface ReleaseNumber {
  major: number
  minor: number
  /** Patch, and what OKD counts on in: `-okd-scos.16` is no pre-release. */
  rest: readonly number[]
}

/** Text that is no release is 0.0. */
export function releaseNumber(version = ''): ReleaseNumber {
  const [major = 0, minor = 0, ...rest] = (version.match(/\d+/g) ?? []).map(Number)
  return { major, minor, rest }
}

/** Negative when a is older. */
export function compareReleases(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)]
  const length = Math.max(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const parts = (version: string): number[] => {
  const { major, minor, rest } = releaseNumber(version)
  return [major, minor, ...rest]
}

export function sameMinor(a: string, b: string): boolean {
  const [left, right] = [releaseNumber(a), releaseNumber(b)]
  return left.major === right.major && left.minor === right.minor
}

/** The graph's release of that version. */
export const releaseOf = (graph: readonly Release[], version: string | undefined): Release | undefined =>
  graph.find((release) => release.version === version)

const usual: readonly PoolShape[] = [
  { name: 'master', nodes: 3 },
  { name: 'worker', nodes: 3 },
]
const single: readonly PoolShape[] = [
  { name: 'master', nodes: 1 },
  { name: 'worker', nodes: 0 },
]
const hosted: readonly PoolShape[] = [{ name: 'worker', nodes: 3 }]

/** Whose machines are there: as said, or as the topology has them. */
export function poolsOf({
  pools,
  topology,
}: Pick<OpenShiftShape, 'pools' | 'topology'>): readonly PoolShape[] {
  if (pools) return pools
  if (topology === 'SingleReplica') return single
  return topology === 'External' ? hosted : usual
}

export const nodeNames = ({ name, nodes }: PoolShape): readonly string[] =>
  Array.from({ length: nodes }, (_, i) => `${name}-${i}`)

type Edges = Pick<Release, 'to' | 'conditional'>

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Kubernetes is thirteen minors behind 4.y (4.18: 1.31), and its patch here follows z. */
const kubernetesOf = (version: string): string => {
  const { minor, rest } = releaseNumber(version)
  return `1.${minor + 13}.${Math.floor((rest[0] ?? 0) / 3)}`
}

/** A release stays in its own minor's channels and is in those of the next as a place to start from; ocp 3.7. */
function ocpChannels(version: string): string[] {
  const { minor } = releaseNumber(version)
  const evens = [minor, minor + 1, minor + 2].filter((m) => m % 2 === 0)
  const eus = evens.map((m) => `eus-4.${m}`)
  const others = ['candidate', 'fast', 'stable'].flatMap((stage) => [
    `${stage}-4.${minor}`,
    `${stage}-4.${minor + 1}`,
  ])
  return [...eus, ...others].sort()
}

const ocp = (version: string, { to, conditional }: Edges): Release => ({
  version,
  image: `quay.io/openshift-release-dev/ocp-release@sha256:${digest(version)}`,
  kubernetes: kubernetesOf(version),
  channels: ocpChannels(version),
  to,
  ...(conditional && { conditional }),
})

const okd = (version: string, kubernetes: string, to: readonly string[]): Release => ({
  version,
  image: `quay.io/okd/scos-release@sha256:${digest(version)}`,
  kubernetes,
  channels: ['stable-scos-4'],
  to,
})

const leak = {
  risk: 'VSphereVolumesLeak',
  message: 'Clusters on vSphere may leave volumes attached when a node is drained in this update.',
}

/** 4.18 to 4.20: the newest 4.19, 4.19.17, has no edge into 4.20 yet, and the newest 4.18 reaches only one 4.19 without a risk. */
const eusGraph: readonly Release[] = [
  ocp('4.18.18', { to: ['4.18.21', '4.18.24'] }),
  ocp('4.18.21', { to: ['4.18.24', '4.19.9', '4.19.10', '4.19.14', '4.19.17'] }),
  ocp('4.18.24', { to: ['4.19.17'], conditional: [{ to: '4.19.14', ...leak }] }),
  ocp('4.19.9', { to: ['4.19.10', '4.19.14', '4.19.17', '4.20.1'] }),
  ocp('4.19.10', { to: ['4.19.14', '4.19.17', '4.20.1', '4.20.3'] }),
  ocp('4.19.14', { to: ['4.19.17', '4.20.3', '4.20.5'] }),
  ocp('4.19.17', { to: [] }),
  ocp('4.20.1', { to: ['4.20.3', '4.20.5'] }),
  ocp('4.20.3', { to: ['4.20.5'] }),
  ocp('4.20.5', { to: [] }),
]

/** OpenShift on 4.18 with a channel of its own minor, workers and a custom pool, and both kinds of health checks. */
export const ocp418to420: OpenShiftShape = {
  flavour: 'ocp',
  version: '4.18.21',
  channel: 'eus-4.18',
  graph: eusGraph,
  pools: [
    { name: 'master', nodes: 3 },
    { name: 'worker', nodes: 3 },
    { name: 'gpu', nodes: 2 },
  ],
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
  graph: [
    okd('4.18.0-okd-scos.10', '1.31.9', ['4.19.0-okd-scos.10']),
    okd('4.19.0-okd-scos.10', '1.32.6', ['4.19.0-okd-scos.16']),
    okd('4.19.0-okd-scos.16', '1.32.7', ['4.20.0-okd-scos.4']),
    okd('4.20.0-okd-scos.4', '1.33.4', []),
  ],
}
