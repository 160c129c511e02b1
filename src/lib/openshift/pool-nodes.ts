import type { MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import { filled, itemsOf } from '../kube/known.ts'
import { compareMinors, minorOfPlatform } from '../releases/release-versions.ts'
import { platformsOfKubernetes } from '../releases/platform-releases.ts'
import { assessPool, poolOf } from './machine-config-pools.ts'
import { assessClusterOperators, type PlatformSnapshot, type PlatformStatus } from './platform-status.ts'

/**
 * Where a pool stands to the release that the platform goes to, or runs. `follows`: it will, and has not been told yet. `outdated`: it is paused, and will
 * not. `there`: its own counters are about that release.
 */
export interface PoolFollowing {
  is: 'there' | 'follows' | 'outdated'
  /** The release that its nodes run, where that is known. */
  from?: string
  /** Where it would go. */
  to?: string
}

interface Around {
  platform: PlatformSnapshot
  /** Undefined where there is no ClusterVersion to read: then a pool's counters are all that is known. */
  platformStatus: PlatformStatus | undefined
}

/**
 * A pool gets its new configuration only when the operator machine-config is updated, nearly last. Until then its counters are about the release before, and
 * it calls itself updated for most of an update (hco-olm-openshift facts 3.5).
 */
export function followingOf(pool: MachineConfigPool, { platform, platformStatus }: Around): PoolFollowing {
  const { paused, isMaster } = assessPool(pool)
  if (platformStatus === undefined) return { is: 'there' }
  const { target, state, version, from } = platformStatus
  if (state !== 'idle' && !hasNewConfig(platform, platformStatus)) {
    const left = from?.incomplete ? undefined : (from?.version ?? version)
    return { is: paused && !isMaster ? 'outdated' : 'follows', ...filled({ from: left, to: target }) }
  }
  const oldest = paused ? oldestMinor(pool, platform) : undefined
  const here = minorOfPlatform(target)
  if (oldest === undefined || here === '' || compareMinors(oldest, here) >= 0) return { is: 'there' }
  return { is: 'outdated', from: oldest, ...filled({ to: target }) }
}

/** By the version of the operator that renders it; where that is not known, it is not taken for granted. Of one version there is nothing to tell by. */
function hasNewConfig(platform: PlatformSnapshot, { target, sameVersion }: PlatformStatus): boolean {
  if (sameVersion !== undefined) return true
  const operators = assessClusterOperators(itemsOf(platform.clusterOperators))
  const renders = operators.find(({ name }) => name === 'machine-config')
  return renders?.version !== undefined && renders.version === target
}

/** Of the kubelets of its nodes. Of several minors with that Kubernetes the newest: nothing is called outdated that may not be. */
function oldestMinor(pool: MachineConfigPool, platform: PlatformSnapshot): string | undefined {
  const pools = itemsOf(platform.pools)
  const minors = itemsOf(platform.nodes)
    .filter((node) => poolOf(node, pools) === pool)
    .flatMap(({ status }) => platformsOfKubernetes(status?.nodeInfo?.kubeletVersion).at(-1) ?? [])
  return minors.toSorted(compareMinors)[0]
}
