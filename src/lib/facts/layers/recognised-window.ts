import type { Node } from '../../cluster/kinds/core.ts'
import type { MachineConfigPool } from '../../cluster/kinds/openshift.ts'
import { compareMinors, minorOfPlatform } from '../../releases/platform-version.ts'
import { platformMinor, platformsOfKubernetes } from '../../releases/platform-minors.ts'
import { itemsOf } from '../known.ts'
import { poolOf } from '../openshift/pool-of.ts'
import { type PlatformStanding, platformStanding } from '../openshift/platform-standing.ts'
import { poolStanding } from '../openshift/pool-standing.ts'
import type { PlatformSnapshot } from '../openshift/take-platform.ts'

/** What there is to see of a window, whoever opened it: a platform that is taken from one extended-update release to another while pools wait (ocp 3.8). */
export interface RecognisedWindow {
  /** What told it: open loans of `kvup eus`, or paused pools behind their control plane. */
  by: 'loans' | 'pools'
  /** Names of the pools that are paused and wait. */
  pools: readonly string[]
  /** The minor that the paused pools are at, where their kubelets tell. */
  from?: string
  /** The minor that the control plane is at, or is taken to. */
  at?: string
}

/**
 * The one definition of a window that is open. Recognised by the loans that `kvup eus` has open, or by paused pools below a control plane that is on its way to another minor, ahead
 * of their kubelets, or at a minor without extended support. Undefined: pools that are merely paused.
 */
export function recogniseWindow(
  platform: PlatformSnapshot,
  loansAreOpen: boolean,
): RecognisedWindow | undefined {
  const [cv] = itemsOf(platform.clusterVersion)
  const standing = cv && platformStanding(cv)
  const at = minorOf(standing?.target)
  const held = itemsOf(platform.pools).filter((pool) => isHeld(pool, { platform, standing }))
  const from = oldestMinor(platform, held, standing)
  const told = {
    pools: held.map(({ metadata }) => metadata.name),
    ...(at !== undefined && { at }),
    ...(from !== undefined && { from }),
  }
  if (loansAreOpen) return { by: 'loans', ...told }
  return held.length > 0 && standing && isAhead(standing, from) ? { by: 'pools', ...told } : undefined
}

interface Around {
  platform: PlatformSnapshot
  standing: PlatformStanding | undefined
}

/** Paused, and with something to do, or about to have it; a pool that is degraded says it by its kubelets alone. */
function isHeld(pool: MachineConfigPool, { platform, standing }: Around): boolean {
  const { state, isMaster, machines, paused } = poolStanding(pool)
  if (!paused || isMaster || machines === 0) return false
  if (state === 'paused-pending' || (standing !== undefined && isChangingMinor(standing))) return true
  const [from, at] = [oldestMinor(platform, [pool], standing), minorOf(standing?.target)]
  return from !== undefined && at !== undefined && compareMinors(from, at) < 0
}

function isChangingMinor({ version, target }: PlatformStanding): boolean {
  const [before, at] = [minorOf(version), minorOf(target)]
  return before !== undefined && at !== undefined && compareMinors(before, at) < 0
}

/** Undefined for what is no release. */
const minorOf = (version: string | undefined): string | undefined => minorOfPlatform(version) || undefined

function isAhead(platform: PlatformStanding, from: string | undefined): boolean {
  const at = minorOf(platform.target)
  if (at === undefined) return false
  if (from !== undefined) return compareMinors(from, at) < 0
  return isChangingMinor(platform) || platformMinor(at)?.eus === false
}

function oldestMinor(
  platform: PlatformSnapshot,
  pools: readonly MachineConfigPool[],
  standing: PlatformStanding | undefined,
): string | undefined {
  const all = itemsOf(platform.pools)
  const minors = itemsOf(platform.nodes).flatMap((node) => {
    const pool = poolOf(node, all)
    if (!pool || !pools.includes(pool)) return []
    return minorOfKubelet(node, pool, standing) ?? []
  })
  return minors.toSorted(compareMinors)[0]
}

/** Of several minors with that Kubernetes the platform's own, where the pool has all that it is to have; else the oldest. */
function minorOfKubelet(
  { status }: Node,
  pool: MachineConfigPool,
  standing: PlatformStanding | undefined,
): string | undefined {
  const minors = platformsOfKubernetes(status?.nodeInfo?.kubeletVersion)
  const at = minorOf(standing?.target)
  const isThrough = standing?.state === 'idle' && poolStanding(pool).state === 'updated'
  return isThrough && at !== undefined && minors.includes(at) ? at : minors[0]
}
