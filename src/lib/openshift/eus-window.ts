import type { Node } from '../kube/kinds/core-kinds.ts'
import type { ClusterVersion, Infrastructure, MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import { compareMinors, minorOfPlatform } from '../releases/release-versions.ts'
import { platformMinor, platformsOfKubernetes } from '../releases/platform-releases.ts'
import { itemsOf } from '../kube/known.ts'
import { isMasterPool, poolOf, assessPool } from './machine-config-pools.ts'
import { type PlatformSnapshot, type PlatformStatus, assessPlatform } from './platform-status.ts'

/** What there is to see of a window, whoever opened it: a platform that is taken from one extended-update release to another while pools wait (ocp 3.8). */
export interface RecognisedWindow {
  /** What told it: open overrides of `kvup eus`, or paused pools behind their control plane. */
  by: 'overrides' | 'pools'
  /** Names of the pools that are paused and wait. */
  pools: readonly string[]
  /** The minor that the paused pools are at, by their kubelets, or by the history where no kubelet tells. */
  from?: string
  /** The minor that the control plane is at, or is taken to. */
  at?: string
}

/**
 * The one definition of a window that is open. Recognised by the overrides that `kvup eus` has open, or by paused pools below a control plane that is on its way to another minor, ahead
 * of their kubelets, or at a minor without extended support. Undefined: pools that are merely paused.
 */
export function recogniseWindow(
  platform: PlatformSnapshot,
  overridesAreOpen: boolean,
): RecognisedWindow | undefined {
  const [cv] = itemsOf(platform.clusterVersion)
  const platformStatus = cv && assessPlatform(cv)
  const at = minorOf(platformStatus?.target)
  const held = itemsOf(platform.pools).filter((pool) => isHeld(pool, { platform, platformStatus }))
  const ofKubelets = oldestMinor(platform, held, platformStatus)
  const from = ofKubelets ?? (held.length > 0 ? startedAt(cv, at) : undefined)
  const told = {
    pools: held.map(({ metadata }) => metadata.name),
    ...(at !== undefined && { at }),
    ...(from !== undefined && { from }),
  }
  if (overridesAreOpen) return { by: 'overrides', ...told }
  return held.length > 0 && platformStatus && isAhead(platformStatus, ofKubelets)
    ? { by: 'pools', ...told }
    : undefined
}

/** Where no kubelet tells it: the newest release with extended support in the history before the minor that is gone to. */
function startedAt(cv: ClusterVersion | undefined, at: string | undefined): string | undefined {
  if (at === undefined) return undefined
  return (cv?.status?.history ?? [])
    .filter(({ state }) => state === 'Completed')
    .flatMap(({ version }) => minorOf(version) ?? [])
    .find((minor) => compareMinors(minor, at) < 0 && platformMinor(minor)?.eus === true)
}

/** Paused, and with something to do, or about to have it; a pool that is degraded says it by its kubelets alone. */
function isHeld(
  pool: MachineConfigPool,
  { platform, platformStatus }: { platform: PlatformSnapshot; platformStatus: PlatformStatus | undefined },
): boolean {
  const { state, isMaster, machines, paused } = assessPool(pool)
  if (!paused || isMaster || machines === 0) return false
  if (state === 'paused-pending' || (platformStatus !== undefined && isChangingMinor(platformStatus)))
    return true
  const [from, at] = [oldestMinor(platform, [pool], platformStatus), minorOf(platformStatus?.target)]
  return from !== undefined && at !== undefined && compareMinors(from, at) < 0
}

function isChangingMinor({ version, target }: PlatformStatus): boolean {
  const [before, at] = [minorOf(version), minorOf(target)]
  return before !== undefined && at !== undefined && compareMinors(before, at) < 0
}

/** Undefined for what is no release. */
const minorOf = (version: string | undefined): string | undefined => minorOfPlatform(version) || undefined

function isAhead(platform: PlatformStatus, from: string | undefined): boolean {
  const at = minorOf(platform.target)
  if (at === undefined) return false
  if (from !== undefined) return compareMinors(from, at) < 0
  return isChangingMinor(platform) || platformMinor(at)?.eus === false
}

function oldestMinor(
  platform: PlatformSnapshot,
  pools: readonly MachineConfigPool[],
  platformStatus: PlatformStatus | undefined,
): string | undefined {
  const all = itemsOf(platform.pools)
  const minors = itemsOf(platform.nodes).flatMap((node) => {
    const pool = poolOf(node, all)
    if (!pool || !pools.includes(pool)) return []
    return minorOfKubelet(node, pool, platformStatus) ?? []
  })
  return minors.toSorted(compareMinors)[0]
}

/** Of several minors with that Kubernetes the platform's own, where the pool has all that it is to have; else the oldest. */
function minorOfKubelet(
  { status }: Node,
  pool: MachineConfigPool,
  platformStatus: PlatformStatus | undefined,
): string | undefined {
  const minors = platformsOfKubernetes(status?.nodeInfo?.kubeletVersion)
  const at = minorOf(platformStatus?.target)
  const isThrough = platformStatus?.state === 'idle' && assessPool(pool).state === 'updated'
  return isThrough && at !== undefined && minors.includes(at) ? at : minors[0]
}

/** What decides whether and by whom a cluster may be updated in a window (night E10). */
export interface Topology {
  /** `unknown`: what would tell may not be read. */
  is: 'usual' | 'compact' | 'single-node' | 'hosted' | 'managed' | 'unknown'
  /** Who updates it instead of its administrator. */
  owner?: string
  /** What told it. */
  because: string
}

/** Somebody else's first, then how many machines there are beside the control plane's. */
export function topologyOf(platform: PlatformSnapshot): Topology {
  const [infrastructure] = itemsOf(platform.infrastructure)
  return managed(platform, infrastructure) ?? hosted(infrastructure) ?? ownTopology(platform, infrastructure)
}

function hosted(infrastructure: Infrastructure | undefined): Topology | undefined {
  if (infrastructure?.status?.controlPlaneTopology !== 'External') return undefined
  return {
    is: 'hosted',
    owner: 'the HostedCluster in the management cluster',
    because: 'the control plane is External to it',
  }
}

const services: Readonly<Record<string, string>> = {
  rosa: 'Red Hat OpenShift Service on AWS',
  osd: 'OpenShift Dedicated',
}

/**
 * ROSA and OpenShift Dedicated tag what they make in the cloud, which the Infrastructure repeats; Azure Red Hat OpenShift
 * brings a ClusterOperator `aro` along.
 */
function managed(
  platform: PlatformSnapshot,
  infrastructure: Infrastructure | undefined,
): Topology | undefined {
  if (itemsOf(platform.clusterOperators).some(({ metadata }) => metadata.name === 'aro'))
    return { is: 'managed', owner: 'Azure Red Hat OpenShift', because: 'there is a ClusterOperator aro' }
  const tags = cloudTags(infrastructure)
  const type = tags.get('red-hat-clustertype')
  if (type === undefined && tags.get('red-hat-managed') !== 'true') return undefined
  const tag = type === undefined ? 'red-hat-managed' : `red-hat-clustertype=${type}`
  return {
    is: 'managed',
    owner: services[type ?? ''] ?? 'the service that manages it',
    because: `what it has in the cloud is tagged ${tag}`,
  }
}

function cloudTags(infrastructure: Infrastructure | undefined): ReadonlyMap<string, string> {
  const { aws, gcp } = infrastructure?.status?.platformStatus ?? {}
  const tags = [...(aws?.resourceTags ?? []), ...(gcp?.resourceLabels ?? [])]
  return new Map(tags.map(({ key, value }) => [key, value]))
}

function ownTopology(platform: PlatformSnapshot, infrastructure: Infrastructure | undefined): Topology {
  const nodes = platform.nodes.known ? platform.nodes.items.length : undefined
  const { controlPlaneTopology } = infrastructure?.status ?? {}
  if (nodes === 1 || (nodes === undefined && controlPlaneTopology === 'SingleReplica'))
    return {
      is: 'single-node',
      because: nodes === 1 ? 'it has one node' : 'its control plane has one replica',
    }
  if (!platform.pools.known) return { is: 'unknown', because: platform.pools.why }
  const workers = platform.pools.items.filter((pool) => !isMasterPool(pool))
  if (workers.some(({ status }) => (status?.machineCount ?? 0) > 0))
    return { is: 'usual', because: 'it has nodes besides the control plane' }
  return { is: 'compact', because: 'only the master pool has nodes' }
}
