import type { Reader } from '../../cluster/cluster.ts'
import type { MachineConfigPool } from '../../cluster/kinds/openshift.ts'
import { filled } from '../../facts/filled.ts'
import type { Known } from '../../facts/known.ts'
import { type PlatformStanding, platformStanding } from '../../facts/openshift/platform-standing.ts'
import { poolStanding } from '../../facts/openshift/pool-standing.ts'
import { takePlatform } from '../../facts/openshift/take-platform.ts'

/** What an update of an operator has to know of the platform below it (night E1, E4). */
export interface PlatformNow {
  /** Of the release that was reached last, `4.18`; undefined where there is no ClusterVersion, or none may be read. */
  minor?: string
  version?: string
  /** Why no operator is to be updated now, in words. */
  busy?: string
  /** Shown and never waited for: it waits for us. */
  notUpgradeable?: string
}

/** Asks for the ClusterVersion and the pools; on a cluster without them everything is undefined. */
export async function platformNow(reader: Reader): Promise<PlatformNow> {
  const { clusterVersion, pools } = await takePlatform(reader, { parts: ['clusterVersion', 'pools'] })
  if (!clusterVersion.known) return { busy: unreadText(clusterVersion.why) }
  const [cv] = clusterVersion.items
  return cv === undefined ? {} : platformOf(platformStanding(cv), pools)
}

function platformOf(platform: PlatformStanding, pools: Known<MachineConfigPool>): PlatformNow {
  const { version, state, upgradeable } = platform
  return filled({
    version,
    minor: /^\d+\.\d+/u.exec(version ?? '')?.[0],
    busy: state === 'idle' ? (unsettled(platform) ?? poolsBusy(pools)) : moving(platform),
    notUpgradeable: upgradeable.is === 'no' ? upgradeable.message : undefined,
  })
}

const unreadText = (why: string): string => `cannot tell whether the platform stands still: ${why}`

function poolsBusy(pools: Known<MachineConfigPool>): string | undefined {
  return pools.known ? rollingMaster(pools.items.map(poolStanding)) : unreadText(pools.why)
}

/** The history says no more than that the last release was reached (night E1, E4). */
function unsettled({ current, progressing, message }: PlatformStanding): string | undefined {
  if (!current) return 'the status of the ClusterVersion is not yet about its present spec'
  return progressing ? `the platform is Progressing${message === '' ? '' : `: ${message}`}` : undefined
}

function moving({ state, target = 'another release', message }: PlatformStanding): string {
  const said = message === '' ? '' : `: ${message}`
  return state === 'updating'
    ? `the platform is being updated to ${target}${said}`
    : `the update of the platform to ${target} stopped half-way${said}`
}

/** A paused pool with work to do is not Updated either, and master must not be paused. */
function rollingMaster(pools: readonly ReturnType<typeof poolStanding>[]): string | undefined {
  const master = pools.find(({ isMaster, state }) => isMaster && state !== 'updated')
  if (master === undefined) return undefined
  return `the machine config pool ${master.name} is not up to date (${master.updated} of ${master.machines} machines${master.paused ? ', paused' : ''})`
}
