import { createHash } from 'node:crypto'
import { releaseNumber } from './release-number.ts'
import type { OpenShiftShape, Release } from './shape.ts'

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
