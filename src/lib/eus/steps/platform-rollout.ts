import { unpausePool } from '../../openshift/platform-rules.ts'
import {
  ClusterOperators,
  type MachineConfigPool,
  MachineConfigPools,
} from '../../kube/kinds/openshift-kinds.ts'
import {
  assessClusterOperators,
  platformNodes,
  type PlatformStatus,
} from '../../openshift/platform-status.ts'
import type { Step, StepContext, StepState, Watched } from '../../engine/step.ts'
import { hours, minutes, seconds } from '../../kube/clock.ts'
import { isReached, platformFollows, readPlatform, type Stop } from './cluster-version-status.ts'
import { type Node, Nodes } from '../../kube/kinds/core-kinds.ts'
import { platformMinor, platformOfKubernetes } from '../../releases/platform-releases.ts'
import { compareMinors, minorOfPlatform } from '../../releases/release-versions.ts'
import { keepPool, keptPool, type PoolBefore } from '../baseline.ts'
import type { Reader } from '../../kube/cluster.ts'
import { condition } from '../../kube/object.ts'
import { assessPool, isMasterPool, poolOf, type PoolStatus } from '../../openshift/machine-config-pools.ts'
import { blocked } from '../../kube/errors.ts'
import { poolRolls } from '../plan/eus-plan.ts'
import type { Override } from '../../engine/journal.ts'

/**
 * Done once the history has the release as Completed and every ClusterOperator, whose versions that tells, is there: Available, neither Degraded nor Progressing. Degraded
 * and Failing=Unknown on the way are how an update looks (ocp 3.1).
 */
export function platformUpdated({ id, stop }: { id: string; stop: Stop }): Step {
  return {
    id,
    title: `update the platform to ${stop.version ?? stop.minor}`,
    patience: { every: 15 * seconds, atMost: 12 * hours },
    estimate: 75 * minutes,
    watches: [...platformFollows, { kind: ClusterOperators, where: {} }],
    goesOn: true,
    risk: {
      undo: 'none: a platform does not downgrade to an older minor',
      safeToLeave: 'always: it continues by itself',
    },
    async check({ reader }): Promise<StepState> {
      const { platformStatus } = await readPlatform(reader)
      if (!isReached(platformStatus, stop)) return onItsWay(platformStatus)
      if (platformStatus.state !== 'idle') return { is: 'done', note: `at ${platformStatus.target}` }
      const left = assessClusterOperators(await reader.list(ClusterOperators)).filter(
        ({ available, degraded, progressing }) => !available || degraded || progressing,
      )
      const [first] = left
      if (first === undefined) return { is: 'done', note: platformStatus.version ?? '' }
      const words = first.degraded ?? first.progressing
      return {
        is: 'waiting',
        on: `${left.length} cluster operators, such as ${first.name}`,
        ...(words && words.message !== '' && { trouble: words.message }),
        remedy: ['oc get clusteroperators'],
      }
    },
  }
}

function onItsWay({ target, message, failing, since, slow, percent }: PlatformStatus): StepState {
  const on = `the platform to reach ${target ?? 'its release'}`
  const from = {
    ...(since !== undefined && { since }),
    ...(percent !== undefined && { progress: { done: percent, total: 100, share: true } as const }),
  }
  const remedy = ['oc adm upgrade', 'oc get clusteroperators']
  if (failing === 'True') return { is: 'stalled', on, why: message || 'Failing=True', remedy, ...from }
  const trouble = slow ?? message
  return { is: 'waiting', on, ...from, ...(trouble !== '' && { trouble, remedy }) }
}

/** Of one hop: its key in the journal, and where it ends. */
interface MasterHop {
  id: string
  stop: Stop
  /** Of the procedure. */
  name: string
}

const keptAs = ({ minor, version }: Stop): string => `master-${version ?? minor}`

/** Keeps what the master pool looks like before the hop: an old Updated proves nothing after it. */
export async function keepMaster(cx: StepContext, name: string, stop: Stop): Promise<void> {
  await keepPool(cx.journal, name, keptAs(stop), poolBefore(await readPool(cx.reader, undefined)))
}

/**
 * Done once the master pool has rolled: a new Updating transition since the hop was asked for, Updated, all machines counted, and their kubelets of
 * the platform's minor (ocp 5.1).
 */
export function masterRolled({ id, stop, name }: MasterHop): Step {
  return {
    id,
    title: 'update the control plane nodes',
    patience: { every: 15 * seconds, atMost: 6 * hours },
    estimate: 30 * minutes,
    watches: [...poolFollows, { kind: Nodes, where: {} }],
    goesOn: true,
    risk: { undo: 'none', safeToLeave: 'always: it continues by itself' },
    async check({ reader, journal }): Promise<StepState> {
      const now = await readPool(reader, undefined)
      const waiting = untilUpdated(now)
      if (waiting) return now.poolStatus.paused ? masterPaused(now) : waiting
      const { platformStatus } = await readPlatform(reader)
      if (minorOfPlatform(platformStatus.version) !== stop.minor) return { is: 'done' }
      const old = oldKubelets(now, stop.minor)
      if (old.length > 0)
        return { is: 'waiting', on: `the kubelets of ${old.join(', ')} to be those of ${stop.minor}` }
      const before = await keptPool(journal, name, keptAs(stop))
      const hasRolled = poolBefore(now).updating !== before?.updating
      return hasRolled || isProven(now, stop.minor)
        ? { is: 'done', note: `${now.poolStatus.updated} of ${now.poolStatus.machines} nodes` }
        : { is: 'waiting', on: 'the master pool to start' }
    },
  }
}

/** Kubelets of an older Kubernetes than the hop's, where the table knows that: two minors may have the same (4.23 and 5.0). */
function oldKubelets({ nodes }: PoolNow, minor: string): readonly string[] {
  const wanted = platformMinor(minor)?.kubernetes
  if (wanted === undefined) return []
  const isOld = (kubernetes: string) => kubernetes !== '' && compareMinors(kubernetes, wanted) < 0
  return nodes.filter((node) => isOld(kubernetesOf(node))).map(({ metadata }) => metadata.name)
}

/** Where every kubelet can be of the new minor alone, nobody has to have seen the transition. */
const isProven = ({ nodes }: PoolNow, minor: string): boolean =>
  nodes.length > 0 && nodes.every((node) => platformOfKubernetes(kubernetesOf(node)) === minor)

const masterPaused = ({ poolStatus: { name } }: PoolNow): StepState => ({
  is: 'blocked',
  reason: 'master-paused',
  by: `the pool ${name} is paused, and the platform cannot continue without it`,
  remedy: [unpausePool(name)],
})

export const poolFollows: readonly Watched[] = [{ kind: MachineConfigPools, where: {} }]

/** A pool with the nodes that follow it. */
export interface PoolNow {
  pool: MachineConfigPool
  poolStatus: PoolStatus
  nodes: readonly Node[]
  /** Of the nodes of the control plane: what the others have to come to. `1.33` */
  kubernetes: string
}

/** Without a name the master's. Throws `blocked` where there is no such pool. */
export async function readPool(reader: Reader, name: string | undefined): Promise<PoolNow> {
  const [pools, nodes] = await Promise.all([reader.list(MachineConfigPools), platformNodes(reader)])
  const master = pools.find(isMasterPool)
  const pool = name === undefined ? master : pools.find(({ metadata }) => metadata.name === name)
  if (pool === undefined)
    throw blocked('pool-gone', `there is no machine config pool ${name ?? 'master'}`, {
      object: `machineconfigpools/${name ?? 'master'}`,
      remedy: 'oc get machineconfigpools',
    })
  const of = (owner: MachineConfigPool | undefined) =>
    nodes.filter((node) => poolOf(node, pools)?.metadata.name === owner?.metadata.name)
  return {
    pool,
    poolStatus: assessPool(pool),
    nodes: of(pool),
    kubernetes: oldestKubernetes(of(master)),
  }
}

/** What a new Updating transition is told by. */
export const poolBefore = ({ pool }: Pick<PoolNow, 'pool'>): PoolBefore => ({
  updating: condition(pool, 'Updating')?.lastTransitionTime ?? '',
  pending: pool.spec?.configuration?.name !== pool.status?.configuration?.name,
})

/** `1.33` of `v1.33.4+abcdef`; empty where it is not said. */
function kubernetesOf({ status }: Node): string {
  return /^v?(\d+\.\d+)/u.exec(status?.nodeInfo?.kubeletVersion ?? '')?.[1] ?? ''
}

function oldestKubernetes(nodes: readonly Node[]): string {
  const minors = nodes.map(kubernetesOf).map((text) => Number(text.split('.')[1] ?? 0))
  return minors.length === 0 ? '' : `1.${Math.min(...minors)}`
}

/** The controller says so of every pool that is updated, whatever the counter is. */
const isAsCounted = (message: string): boolean =>
  /^All nodes are updating to (?:MachineConfig )?\S+$/u.test(message)

/** Why a pool has not come to its end yet; undefined once it has: Updated of the present spec, and its machines counted. */
export function untilUpdated({ poolStatus, pool }: PoolNow): StepState | undefined {
  const { name, state, machines, updated, message, degraded, current } = poolStatus
  const since = condition(pool, 'Updating')?.lastTransitionTime
  const progress = { done: updated, total: machines }
  const on = `pool ${name}: ${updated} of ${machines} nodes updated`
  const remedy = [
    `oc describe machineconfigpool ${name}`,
    'kvup workloads migrations     shows VMs that block a drain',
  ]
  if (!current)
    return { is: 'waiting', on: `the machine config controller to process the spec of pool ${name}`, remedy }
  if (state === 'updated') return undefined
  if (state === 'degraded')
    return { is: 'stalled', on, why: message || `${degraded} nodes are degraded`, remedy, progress }
  return {
    is: 'waiting',
    on,
    progress,
    ...(since !== undefined && state === 'updating' && { since }),
    ...(message !== '' && !isAsCounted(message) && { trouble: message }),
    remedy,
  }
}

/** Nodes whose kubelet is not of that Kubernetes: a pool can say Updated before they are back. */
export function behind(nodes: readonly Node[], kubernetes: string): readonly string[] {
  return nodes.filter((node) => kubernetesOf(node) !== kubernetes).map(({ metadata }) => metadata.name)
}

/** A pool that may stay behind: any but master that has machines (ocp 9.18). */
export interface PausablePool {
  name: string
  uid: string
  /** How long its machines take to roll, so many at a time as it allows: ms, without what holds a drain up. */
  rollsFor: number
}

/** By name. Throws ApiError. */
export async function pausablePools(reader: Reader): Promise<readonly PausablePool[]> {
  const pools = await reader.list(MachineConfigPools)
  return pools
    .filter((pool) => !assessPool(pool).isMaster && assessPool(pool).machines > 0)
    .map(pausable)
    .toSorted((a, b) => a.name.localeCompare(b.name))
}

/** As a step takes it. */
export function pausable(pool: MachineConfigPool): PausablePool {
  const { machines } = assessPool(pool)
  const { low, high } = poolRolls([{ machines, maxUnavailable: pool.spec?.maxUnavailable ?? 1 }])
  return { name: pool.metadata.name, uid: pool.metadata.uid ?? '', rollsFor: (low + high) / 2 }
}

/** Those that are named in their order, then the others. */
export function inOrder<T extends { name: string }>(
  pools: readonly T[],
  order: readonly string[],
): readonly T[] {
  const place = ({ name }: T) => (order.includes(name) ? order.indexOf(name) : order.length)
  return pools.toSorted((a, b) => place(a) - place(b))
}

/** Loans of pools that are gone, or have lost their machines since: they are given back without a drain to judge or to wait for. */
export function poolsWithoutNodes(
  overrides: readonly Override[],
  pools: readonly PausablePool[],
): readonly Override[] {
  const names = new Set(pools.map(({ name }) => `pool-paused/${name}`))
  return overrides.filter(({ id }) => id.startsWith('pool-paused/') && !names.has(id))
}
