import type { Reader } from '../../cluster/cluster.ts'
import type { Node } from '../../cluster/kinds/core.ts'
import { type MachineConfigPool, MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import { condition } from '../../cluster/object.ts'
import { platformNodes } from '../../facts/openshift/platform-nodes.ts'
import { poolOf } from '../../facts/openshift/pool-of.ts'
import { isMasterPool, type PoolStanding, poolStanding } from '../../facts/openshift/pool-standing.ts'
import type { Followed, StepState } from '../../procedure/step.ts'
import { blocked } from '../../system/errors.ts'
import type { PoolBefore } from './kept.ts'

export const poolFollows: readonly Followed[] = [{ kind: MachineConfigPools, where: {} }]

/** A pool with the nodes that follow it. */
export interface PoolNow {
  pool: MachineConfigPool
  standing: PoolStanding
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
    standing: poolStanding(pool),
    nodes: of(pool),
    kubernetes: oldestKubernetes(of(master)),
  }
}

/** What a new Updating transition is told by. */
export function poolBefore({ pool }: Pick<PoolNow, 'pool'>): PoolBefore {
  return {
    updating: condition(pool, 'Updating')?.lastTransitionTime ?? '',
    pending: pool.spec?.configuration?.name !== pool.status?.configuration?.name,
  }
}

/** `1.33` of `v1.33.4+abcdef`; empty where it is not said. */
export function kubernetesOf({ status }: Node): string {
  return /^v?(\d+\.\d+)/u.exec(status?.nodeInfo?.kubeletVersion ?? '')?.[1] ?? ''
}

function oldestKubernetes(nodes: readonly Node[]): string {
  const minors = nodes.map(kubernetesOf).map((text) => Number(text.split('.')[1] ?? 0))
  return minors.length === 0 ? '' : `1.${Math.min(...minors)}`
}

/** Why a pool has not come to its end yet; undefined once it has: Updated of the present spec, and its machines counted. */
export function untilUpdated({ standing, pool }: PoolNow): StepState | undefined {
  const { name, state, machines, updated, message, degraded, current } = standing
  const since = condition(pool, 'Updating')?.lastTransitionTime
  const progress = { done: updated, total: machines }
  const on = `pool ${name}: ${updated} of ${machines} machines updated`
  const remedy = [
    `oc describe machineconfigpool ${name}`,
    'kvup workloads migrations     shows VMs that hold a drain up',
  ]
  if (!current)
    return { is: 'waiting', on: `the machine config controller to see the spec of pool ${name}`, remedy }
  if (state === 'updated') return undefined
  if (state === 'degraded')
    return { is: 'stalled', on, why: message || `${degraded} machines are degraded`, remedy, progress }
  return {
    is: 'waiting',
    on,
    progress,
    ...(since !== undefined && state === 'updating' && { since }),
    ...(message !== '' && { trouble: message }),
    remedy,
  }
}

/** Nodes whose kubelet is not of that Kubernetes: a pool can say Updated before they are back. */
export function behind(nodes: readonly Node[], kubernetes: string): readonly string[] {
  return nodes.filter((node) => kubernetesOf(node) !== kubernetes).map(({ metadata }) => metadata.name)
}
