import type { PodDisruptionBudget } from '../kube/kinds/core-kinds.ts'
import type { KubeVirt, VirtualMachineInstance } from '../kube/kinds/kubevirt-kinds.ts'
import type { MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import { filled, itemsOf, type Known } from '../kube/known.ts'
import { condition, keyOf } from '../kube/object.ts'
import { selectorTest } from '../kube/selectors.ts'
import { shellWord } from '../kube/shell-line.ts'
import { someOf } from '../kube/text.ts'
import { assessPool, poolOf } from './machine-config-pools.ts'
import { isDraining } from './pool-nodes.ts'
import type { PlatformSnapshot } from './platform-status.ts'

/** What is read where a pool rolls or is degraded: who may keep its nodes from being drained. */
export interface DrainSnapshot {
  vmis: Known<VirtualMachineInstance>
  budgets: Known<PodDisruptionBudget>
  kubevirts: Known<KubeVirt>
}

/** A VM that keeps a node from being drained. */
interface DrainBlocker {
  /** `namespace/name`. */
  vm: string
  by: 'not-migratable' | 'budget'
  /** In words that follow the VM's name. */
  why: string
  /** `namespace/name` of the PodDisruptionBudget. */
  budget?: string
  /** That budget cannot count the pods: it has maxUnavailable, and their owner has no scale. */
  cannotCount?: true
}

/** A node that is to be drained, and the VMs that are in the way; none known does not mean that there are none. */
export interface BlockedDrain {
  node: string
  vms: readonly DrainBlocker[]
  /** What could not be read. */
  unknown?: string
}

/** The nodes of a pool that are being drained, or that could not be: by the annotations of the node and the words of the pool. */
export function drainingNodes(pool: MachineConfigPool, platform: PlatformSnapshot): readonly string[] {
  const { state, message } = assessPool(pool)
  if (state !== 'degraded' && state !== 'updating') return []
  const pools = itemsOf(platform.pools)
  const said = [...message.matchAll(/failed to drain node: (?<node>[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)/gu)]
  const annotated = itemsOf(platform.nodes).filter(
    (node) => poolOf(node, pools) === pool && isDraining(node.metadata.annotations),
  )
  const named = said.flatMap(({ groups }) => groups?.['node'] ?? [])
  return [...new Set([...named, ...annotated.map(({ metadata }) => metadata.name)])]
}

/**
 * The VMs on a node whose eviction is denied for ever, because they are to migrate and cannot, or which a PodDisruptionBudget allows nothing for. Budgets of KubeVirt
 * itself are no obstacle: they make it migrate the VM. Pure.
 */
export function blockersOn(node: string, { vmis, budgets, kubevirts }: DrainSnapshot): BlockedDrain {
  const unread = [vmis, budgets].flatMap((part) => (part.known ? [] : [part.why]))
  const [kubevirt] = itemsOf(kubevirts)
  const eviction = kubevirt?.spec?.configuration?.['evictionStrategy']
  const there = itemsOf(vmis).filter(({ status }) => status?.nodeName === node && status.phase === 'Running')
  const vms = there.flatMap(
    (vmi) =>
      unmovable(vmi, typeof eviction === 'string' ? eviction : undefined) ??
      forbidden(vmi, itemsOf(budgets)) ??
      [],
  )
  return { node, vms, ...filled({ unknown: unread.join('; ') }) }
}

function unmovable(
  vmi: VirtualMachineInstance,
  clusterEviction: string | undefined,
): DrainBlocker | undefined {
  const migratable = condition(vmi, 'LiveMigratable')
  const strategy = vmi.spec?.evictionStrategy ?? clusterEviction
  if (strategy !== 'LiveMigrate' || migratable?.status !== 'False') return undefined
  const { reason = 'no reason is given', message } = migratable
  return { vm: keyOf(vmi), by: 'not-migratable', why: `cannot be live-migrated: ${message || reason}` }
}

function forbidden(
  vmi: VirtualMachineInstance,
  budgets: readonly PodDisruptionBudget[],
): DrainBlocker | undefined {
  const budget = budgets.find(
    (one) =>
      one.metadata.namespace === vmi.metadata.namespace &&
      one.status?.disruptionsAllowed === 0 &&
      !isKubeVirts(one) &&
      selects(one, vmi),
  )
  if (budget === undefined) return undefined
  const allowed = condition(budget, 'DisruptionAllowed')
  const failed = allowed?.reason === 'SyncFailed' ? `: ${allowed.message || allowed.reason}` : ''
  return {
    vm: keyOf(vmi),
    by: 'budget',
    why: `may not be evicted: PodDisruptionBudget ${budget.metadata.name} allows no disruption${failed}`,
    budget: `${budget.metadata.namespace ?? ''}/${budget.metadata.name}`,
    ...(failed !== '' && { cannotCount: true }),
  }
}

/** By who owns it, not by its name, which anybody can copy. */
const isKubeVirts = ({ metadata }: PodDisruptionBudget): boolean =>
  (metadata.ownerReferences ?? []).some(
    ({ apiVersion, controller }) => controller === true && apiVersion.startsWith('kubevirt.io/'),
  )

/** The launcher's pod has the labels of the VMI, and KubeVirt's own. An empty selector is of every pod of the namespace. */
function selects({ spec }: PodDisruptionBudget, { metadata }: VirtualMachineInstance): boolean {
  return selectorTest(spec?.selector)({
    ...metadata.labels,
    'kubevirt.io': 'virt-launcher',
    'kubevirt.io/created-by': metadata.uid ?? '',
    'vmi.kubevirt.io/id': metadata.name,
    'vm.kubevirt.io/name': metadata.name,
  })
}

/** In one line for each node which VMs, and why the first; and one line for the nodes of which that is not known. */
export function drainLines(drains: readonly BlockedDrain[]): readonly string[] {
  const told = drains.flatMap(({ node, vms }) =>
    Object.values(Object.groupBy(vms, ({ why }) => why)).map(
      (some = []) =>
        `node ${node} cannot be drained: ${some.length === 1 ? 'VM' : 'VMs'} ${someOf(some.map(({ vm }) => vm))} ${some[0]?.why ?? ''}`,
    ),
  )
  const unknown = drains.filter(({ vms, unknown: why }) => vms.length === 0 && why !== undefined)
  if (unknown.length === 0) return told
  const which = `${unknown.length === 1 ? 'node' : 'nodes'} ${someOf(unknown.map(({ node }) => node))}`
  return [
    ...told,
    `kvup does not know which VMs block the drain of ${which}: ${unknown[0]?.unknown ?? 'no reason given'}`,
  ]
}

/** What to type, a line for each cause. */
export function drainHelp(drains: readonly BlockedDrain[]): readonly string[] {
  const vms = drains.flatMap((drain) => drain.vms)
  const budgets = new Map(
    vms.flatMap(({ budget, cannotCount }) => (budget ? [[budget, cannotCount] as const] : [])),
  )
  const isStuck = vms.some(({ by }) => by === 'not-migratable')
  return [
    ...[...budgets].map(([budget, cannotCount]) => {
      const [namespace = '', name = ''] = budget.split('/')
      const line = `kubectl -n ${shellWord(namespace)} describe poddisruptionbudget ${shellWord(name)}`
      return cannotCount
        ? `${line}     give it minAvailable in place of maxUnavailable, which does not work for virt-launcher pods`
        : `${line}     shows which pods it covers, and what it allows`
    }),
    ...(isStuck
      ? [
          'kvup workloads unblock --all --dry-run=client     shows which VMs block drains, and what would change on each',
        ]
      : []),
  ]
}
