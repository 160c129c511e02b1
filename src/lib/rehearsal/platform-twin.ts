import { blocked } from '../kube/errors.ts'
import type { Reader } from '../kube/cluster.ts'
import type { Node } from '../kube/kinds/core-kinds.ts'
import type {
  ClusterOperator,
  ClusterVersion,
  MachineConfigPool,
  PlatformRelease,
} from '../kube/kinds/openshift-kinds.ts'
import { itemsOf } from '../kube/known.ts'
import { condition, type KubeObject } from '../kube/object.ts'
import { recogniseWindow } from '../openshift/eus-window.ts'
import { assessPool, poolOf } from '../openshift/machine-config-pools.ts'
import { flavourOf } from '../openshift/operator-rules.ts'
import { assessPlatform, type PlatformSnapshot, takePlatform } from '../openshift/platform-status.ts'
import { platformMinor } from '../releases/platform-releases.ts'
import { minorOfPlatform } from '../releases/release-versions.ts'
import type { UpdateGraph } from '../releases/update-graph.ts'
import type {
  ConditionalEdge,
  OpenShiftShape,
  PoolShape,
  Release,
} from '../../simulator/openshift/openshift-shape.ts'
import type { SimulationFaults } from '../../simulator/simulated-cluster.ts'
import { identityOf } from './played-identity.ts'
import { requirePart } from './required-part.ts'

/** OKD or OpenShift as a twin has it. */
export interface PlatformTwin {
  openshift: OpenShiftShape
  /** Pools, health checks and acknowledged gates, with the settings that they have. */
  asIs: readonly KubeObject[]
  /** What its operators say of themselves. */
  faults: SimulationFaults
  /** The minor that it is at: `4.18`. */
  minor: string
  missing: readonly string[]
}

interface Around {
  /** Of `--graph-file`. */
  graph: UpdateGraph | undefined
  nodes: readonly Node[]
  /** Of the API server: `v1.31.7`. */
  gitVersion: string | undefined
  /** `kvup eus` has temporary changes open. */
  overridesAreOpen: boolean
}

/** Reads the platform as it stands still. Throws `blocked` where it does not; ApiError. */
export async function readPlatformTwin(reader: Reader, around: Around): Promise<PlatformTwin> {
  const platform = await takePlatform(reader)
  const [cv] = requirePart('the ClusterVersion', platform.clusterVersion)
  if (cv === undefined)
    throw blocked('not-rehearsed', 'the ClusterVersion is missing', { remedy: 'kvup status' })
  const operators = requirePart('ClusterOperators', platform.clusterOperators)
  const pools = requirePart('MachineConfigPools', platform.pools)
  const version = settledVersion(cv, platform, around.overridesAreOpen)
  const channel = cv.spec?.channel ?? ''
  const [gates] = itemsOf(platform.adminGates)
  const [infrastructure] = itemsOf(platform.infrastructure)
  const pending = pools.filter((pool) => assessPool(pool).state === 'paused-pending')
  return {
    minor: minorOfPlatform(version),
    openshift: {
      flavour: flavourOf(version, channel),
      version,
      channel,
      graph: releasesOf(cv, version, around),
      pools: pools.map((pool) => shapeOfPool(pool, pools, around.nodes)),
      topology: topologyIn(infrastructure?.status?.controlPlaneTopology),
      adminGates: gates?.data ?? {},
      monitoring: 'open',
    },
    asIs: [
      ...pools.map(asPlayedPool),
      ...itemsOf(platform.machineHealthChecks).map(withoutStatus),
      ...itemsOf(platform.nodeHealthChecks).map(withoutStatus),
      ...itemsOf(platform.adminAcks).map(withoutStatus),
    ],
    faults: faultsOf(operators),
    missing: [
      'Cluster operators: each takes as long as it usually does, not as it did here.',
      'Alerts, machines and what drivers, storage and networks of a node need after its reboot.',
      ...pending.map(
        ({ metadata }) =>
          `What pool ${metadata.name} has not applied yet: in the twin its nodes are updated.`,
      ),
    ],
  }
}

function settledVersion(cv: ClusterVersion, platform: PlatformSnapshot, overridesAreOpen: boolean): string {
  const { version, state } = assessPlatform(cv)
  const window = recogniseWindow(platform, overridesAreOpen)
  if (window !== undefined)
    throw blocked('not-settled', 'an EUS upgrade is under way: a rehearsal begins before it', {
      remedy: 'kvup eus status',
    })
  if (version === undefined || state !== 'idle')
    throw blocked(
      'not-settled',
      'the platform is being updated: a rehearsal begins where the cluster stands still',
      { remedy: 'oc adm upgrade' },
    )
  const moving = itemsOf(platform.pools)
    .map(assessPool)
    .find(({ state: is }) => is !== 'updated' && is !== 'paused-pending')
  if (moving !== undefined)
    throw blocked(
      'not-settled',
      `pool ${moving.name} is ${moving.state}: a rehearsal begins where the cluster stands still`,
      { remedy: 'kvup status' },
    )
  return version
}

function topologyIn(said: string | undefined): NonNullable<OpenShiftShape['topology']> {
  return said === 'SingleReplica' || said === 'External' ? said : 'HighlyAvailable'
}

function shapeOfPool(
  pool: MachineConfigPool,
  pools: readonly MachineConfigPool[],
  nodes: readonly Node[],
): PoolShape {
  const own = nodes.filter((node) => poolOf(node, pools) === pool)
  return { name: pool.metadata.name, nodes: own.map(({ metadata }) => metadata.name) }
}

/** Which configuration its nodes are to have, the platform of the twin says anew. */
function asPlayedPool(pool: MachineConfigPool): KubeObject {
  const { configuration: _, ...spec } = pool.spec ?? {}
  return withoutStatus(Object.assign({}, pool, { spec }))
}

function withoutStatus(object: KubeObject & { status?: unknown }): KubeObject {
  const { status: _, ...rest } = object
  return { ...rest, metadata: identityOf(object.metadata) }
}

/** What the twin says by itself: OLM of operators that bound the platform, kube-apiserver of kubelets. */
const ownReasons = /^(?:IncompatibleOperatorsInstalled$|KubeletMinorVersion)/u

function faultsOf(operators: readonly ClusterOperator[]): SimulationFaults {
  const degraded = operators.filter((one) => condition(one, 'Degraded')?.status === 'True')
  const refusing = operators.flatMap((one) => {
    const said = condition(one, 'Upgradeable')
    const { reason = '', message = '' } = said ?? {}
    if (said?.status !== 'False' || ownReasons.test(reason)) return []
    return [{ operator: one.metadata.name, reason, message }]
  })
  return {
    ...(degraded.length > 0 && { degradedOperators: degraded.map(({ metadata }) => metadata.name) }),
    ...(refusing.length > 0 && { notUpgradeable: refusing }),
  }
}

/** A release while it is gathered from what the cluster and the file say of it. */
interface Gathered {
  image?: string
  channels: Set<string>
  to: Set<string>
}

/** The graph of the update service, and in any case what the cluster itself is offered next. */
function releasesOf(cv: ClusterVersion, version: string, { graph, gitVersion }: Around): Release[] {
  const found = new Map<string, Gathered>()
  gatherOffered(found, cv, version)
  if (graph) gatherGraph(found, graph)
  return Array.from(found, ([name, { image, channels, to }]): Release => {
    const conditional = [
      ...(name === version ? risksHere(cv) : []),
      ...(name === version ? [] : risksInGraph(graph, name)),
    ]
    return {
      version: name,
      image: image ?? `quay.io/openshift-release-dev/ocp-release:${name}`,
      kubernetes: name === version && gitVersion !== undefined ? bare(gitVersion) : kubernetesOf(name),
      channels: [...channels].toSorted(),
      to: [...to],
      ...(conditional.length > 0 && { conditional }),
    }
  })
}

function gathered(found: Map<string, Gathered>, version: string): Gathered {
  const there = found.get(version) ?? { channels: new Set<string>(), to: new Set<string>() }
  found.set(version, there)
  return there
}

/** In the channel that is set. */
function gatherOffered(found: Map<string, Gathered>, { spec, status }: ClusterVersion, here: string): void {
  const { desired, availableUpdates, conditionalUpdates = [] } = status ?? {}
  const add = ({ version = '', image, channels = [] }: PlatformRelease): void => {
    const release = gathered(found, version)
    if (image !== undefined && image !== '') release.image = image
    for (const one of [...channels, spec?.channel ?? '']) release.channels.add(one)
  }
  add({ ...desired, version: here })
  for (const release of availableUpdates ?? []) {
    add(release)
    gathered(found, here).to.add(release.version ?? '')
  }
  for (const { release } of conditionalUpdates) if (release) add(release)
}

function gatherGraph(found: Map<string, Gathered>, { nodes, edges }: UpdateGraph): void {
  for (const { version, image, channels } of nodes.values()) {
    const release = gathered(found, version)
    if (image !== undefined) release.image ??= image
    for (const one of channels) release.channels.add(one)
    for (const to of edges.get(version) ?? []) release.to.add(to)
  }
}

const risksHere = ({ status }: ClusterVersion): ConditionalEdge[] =>
  (status?.conditionalUpdates ?? []).map(({ release, risks: [first] = [] }) => ({
    to: release?.version ?? '',
    risk: first?.name ?? 'Risk',
    message: first?.message ?? '',
  }))

const risksInGraph = (graph: UpdateGraph | undefined, version: string): ConditionalEdge[] =>
  (graph?.conditional.get(version) ?? []).map(({ to, risks }) => ({
    to,
    risk: risks[0] ?? 'Risk',
    message: risks.join(', '),
  }))

const bare = (gitVersion: string): string => gitVersion.replace(/^v/u, '')

/** The patch of it nobody needs to know. */
const kubernetesOf = (version: string): string =>
  `${platformMinor(minorOfPlatform(version))?.kubernetes ?? '1.0'}.0`
