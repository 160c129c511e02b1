import type { Node } from '../kube/kinds/core-kinds.ts'
import type { MachineConfig, MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import { filled, itemsOf, type Known } from '../kube/known.ts'
import { condition } from '../kube/object.ts'
import type { BlockedDrain } from './drain-blockers.ts'
import {
  compareMinors,
  comparePlatforms,
  minorOfPlatform,
  platformVersionOf,
} from '../releases/release-versions.ts'
import { platformsOfKubernetes } from '../releases/platform-releases.ts'
import { assessPool, poolOf } from './machine-config-pools.ts'
import { assessClusterOperators, type PlatformSnapshot, type PlatformStatus } from './platform-status.ts'

const note = 'machineconfiguration.openshift.io'
const currentConfig = `${note}/currentConfig`
/** Of a rendered configuration. */
const releaseNote = `${note}/release-image-version`

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
  /** Rendered ones, which say of which release they are. */
  machineConfigs: Known<MachineConfig>
}

/**
 * A pool gets its new configuration only when the operator machine-config renders it, nearly last. Until then its counters are about the release before, and
 * it calls itself updated for most of an update (hco-olm-openshift facts 3.5).
 */
export function followingOf(pool: MachineConfigPool, around: Around): PoolFollowing {
  const { platform, platformStatus } = around
  const { paused, isMaster } = assessPool(pool)
  if (platformStatus === undefined || platformStatus.installing) return { is: 'there' }
  const { target, state } = platformStatus
  if (state !== 'idle' && !hasNewConfig(pool, around, platformStatus)) {
    const is = paused && !isMaster ? 'outdated' : 'follows'
    return { is, ...filled({ from: releaseLeft(pool, around, platformStatus), to: target }) }
  }
  const oldest = paused ? oldestMinor(pool, platform) : undefined
  const here = minorOfPlatform(target)
  if (oldest === undefined || here === '' || compareMinors(oldest, here) >= 0) return { is: 'there' }
  return { is: 'outdated', from: oldest, ...filled({ to: target }) }
}

/** What the nodes of a pool run. A paused one may have been left behind by updates before this one: only its nodes tell where it is. */
function releaseLeft(
  pool: MachineConfigPool,
  around: Around,
  { version, from }: PlatformStatus,
): string | undefined {
  const told = oldestRelease(pool, around)
  if (told !== undefined) return told
  if (pool.spec?.paused === true) return oldestMinor(pool, around.platform)
  return from?.incomplete ? undefined : (from?.version ?? version)
}

/**
 * By the release of the configuration that the pool wants: the operator that renders it counts as updated only when the master pool is done, and other pools may be done before. Else by the version of that
 * operator; where neither is known, it is not taken for granted. Of one version there is nothing to tell by.
 */
function hasNewConfig(
  { spec }: MachineConfigPool,
  { platform, machineConfigs }: Around,
  { target, sameVersion }: PlatformStatus,
): boolean {
  if (sameVersion !== undefined) return true
  const wanted = releaseOfConfig(spec?.configuration?.name, machineConfigs)
  if (wanted !== undefined && wanted === target) return true
  const operators = assessClusterOperators(itemsOf(platform.clusterOperators))
  const renders = operators.find(({ name }) => name === 'machine-config')
  return renders?.version !== undefined && renders.version === target
}

/** The release of a rendered configuration, as it says itself. */
function releaseOfConfig(name: string | undefined, machineConfigs: Known<MachineConfig>): string | undefined {
  const config = itemsOf(machineConfigs).find(({ metadata }) => metadata.name === name)
  return config?.metadata.annotations?.[releaseNote]
}

/** Of the configurations that its nodes run; undefined where one of them is not known, or they cannot be compared. */
function oldestRelease(pool: MachineConfigPool, { platform, machineConfigs }: Around): string | undefined {
  const pools = itemsOf(platform.pools)
  const members = itemsOf(platform.nodes).filter((node) => poolOf(node, pools) === pool)
  const found = members.map(({ metadata }) =>
    releaseOfConfig(metadata.annotations?.[currentConfig], machineConfigs),
  )
  const [first, ...others] = [...new Set(found)]
  if (first === undefined || others.length === 0) return first
  const versions = [first, ...others].map((text) => platformVersionOf(text))
  const known = versions.filter((version) => version !== undefined)
  return known.length < versions.length ? undefined : known.toSorted(comparePlatforms)[0]?.text
}

/** Of the kubelets of its nodes. Of several minors with that Kubernetes the newest: nothing is called outdated that may not be. */
function oldestMinor(pool: MachineConfigPool, platform: PlatformSnapshot): string | undefined {
  const pools = itemsOf(platform.pools)
  const minors = itemsOf(platform.nodes)
    .filter((node) => poolOf(node, pools) === pool)
    .flatMap(({ status }) => platformsOfKubernetes(status?.nodeInfo?.kubeletVersion).at(-1) ?? [])
  return minors.toSorted(compareMinors)[0]
}

/** Where a node of a pool is. `pending`: it has something to do and has not begun; `paused`: it has, and will not begin. */
type NodePhase = 'updated' | 'pending' | 'paused' | 'draining' | 'updating' | 'rebooting' | 'degraded'

export interface NodeReport {
  name: string
  phase: NodePhase
  ready: boolean
  /** RFC 3339: since when it is not ready. */
  notReadySince?: string
  cordoned: boolean
  /** The release that its machine config is of, as the rendered config says. */
  version?: string
  /** Of its kubelet. */
  kubelet?: string
  /** Why it is degraded or not ready, in the words of the node or its machine config daemon. */
  reason?: string
}

export interface PoolReport {
  name: string
  paused: boolean
  machines: number
  updated: number
  ready: number
  unavailable: number
  degraded: number
  /** Where it stands to the platform's release. */
  following: PoolFollowing['is']
  /** Each node; absent where nodes were not read. */
  nodes?: readonly NodeReport[]
  /** Why it is not known which release its nodes are at; absent where it is. */
  releasesUnknown?: string
  /** What keeps its nodes from being drained; absent where nothing is known to. */
  drains?: readonly BlockedDrain[]
}

/** Every pool, the empty ones too, the master first. Pure. */
export function poolReports(inputs: Around): readonly PoolReport[] {
  const { platform } = inputs
  const pools = itemsOf(platform.pools)
  return pools
    .map((pool) => {
      const { name, paused, machines, updated, ready, degraded } = assessPool(pool)
      const following = followingOf(pool, inputs)
      const members = itemsOf(platform.nodes).filter((node) => poolOf(node, pools) === pool)
      const report: PoolReport = {
        name,
        paused,
        machines,
        updated,
        ready,
        unavailable: pool.status?.unavailableMachineCount ?? 0,
        degraded,
        following: following.is,
      }
      if (!platform.nodes.known) return report
      return Object.assign(report, {
        nodes: members.map((node) => nodeReport(node, { pool, following, inputs })),
      })
    })
    .toSorted((a, b) => Number(b.name === 'master') - Number(a.name === 'master'))
}

interface OfPool {
  pool: MachineConfigPool
  following: PoolFollowing
  inputs: Around
}

function nodeReport(node: Node, of: OfPool): NodeReport {
  const { metadata, spec, status } = node
  const { annotations = {} } = metadata
  const ready = condition({ status: status ?? {} }, 'Ready')
  const phase = phaseOf(node, of)
  const isReady = ready?.status === 'True'
  const why = phase === 'degraded' ? annotations[`${note}/reason`] : isReady ? undefined : ready?.message
  return {
    name: metadata.name,
    phase,
    ready: isReady,
    cordoned: spec?.unschedulable === true,
    ...filled({
      version: releaseOfConfig(annotations[currentConfig], of.inputs.machineConfigs),
      kubelet: status?.nodeInfo?.kubeletVersion,
      reason: why,
      notReadySince: isReady ? undefined : ready?.lastTransitionTime,
    }),
  }
}

/** By what the machine config daemon writes down on its node, and the pool's wanted configuration (hco-olm-openshift facts 3.5). */
function phaseOf({ metadata: { annotations = {} } }: Node, { pool, following }: OfPool): NodePhase {
  const { [`${note}/state`]: state, [currentConfig]: current } = annotations
  if (state === 'Degraded' || state === 'Unreconcilable') return 'degraded'
  if (state === 'Rebooting') return 'rebooting'
  if (isUpdating(annotations)) return isDraining(annotations) ? 'draining' : 'updating'
  const isThere = current === pool.spec?.configuration?.name && following.is === 'there'
  if (isThere) return 'updated'
  return pool.spec?.paused === true ? 'paused' : 'pending'
}

/** Its machine config daemon takes it to another configuration: it drains, writes or reboots. */
export function isUpdating(annotations: Readonly<Record<string, string>>): boolean {
  const { [`${note}/state`]: state, [currentConfig]: current } = annotations
  return state === 'Rebooting' || state === 'Working' || current !== annotations[`${note}/desiredConfig`]
}

/** The daemon wants a drain that the machine config controller has not done yet. */
export function isDraining(annotations: Readonly<Record<string, string>> = {}): boolean {
  const { [`${note}/desiredDrain`]: wanted = '', [`${note}/lastAppliedDrain`]: last } = annotations
  return wanted.startsWith('drain-') && wanted !== last
}

const mostNodes = 10

/** Nodes that are at something or have trouble, whole names, ten at most and the rest counted. Nothing of nodes that are updated, or wait their turn. */
export function nodeLines({
  nodes = [],
  releasesUnknown: why,
}: Pick<PoolReport, 'nodes' | 'releasesUnknown'>): readonly string[] {
  const busy = nodes.filter(
    ({ phase, ready, cordoned }) => !['updated', 'pending', 'paused'].includes(phase) || !ready || cordoned,
  )
  const rest = busy.length - mostNodes
  return [
    ...busy.slice(0, mostNodes).map(nodeLine),
    ...(rest > 0 ? [`and ${rest} more nodes`] : []),
    ...(busy.length > 0 && why !== undefined ? [`the release of these nodes is unknown: ${why}`] : []),
  ]
}

function nodeLine({ name, phase, ready, cordoned, version, reason }: NodeReport): string {
  const states = [phase, ...(ready ? [] : ['not ready']), ...(cordoned ? ['cordoned'] : [])]
  const at = version === undefined ? '' : `, at ${version}`
  return `node ${name} is ${states.join(', ')}${at}${reason === undefined ? '' : `: ${reason}`}`
}
