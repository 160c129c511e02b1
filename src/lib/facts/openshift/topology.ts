import type { Infrastructure } from '../../cluster/kinds/openshift.ts'
import { itemsOf } from '../known.ts'
import { isMasterPool } from './pool-standing.ts'
import type { PlatformSnapshot } from './take-platform.ts'

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
    return { is: 'usual', because: 'it has machines beside those of the control plane' }
  return { is: 'compact', because: 'no pool but the master has machines' }
}
