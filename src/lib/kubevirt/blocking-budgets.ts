import type { Reader } from '../kube/cluster.ts'
import { type PodDisruptionBudget, PodDisruptionBudgets } from '../kube/kinds/core-kinds.ts'
import { Pods } from '../kube/kinds/workload-kinds.ts'
import { condition } from '../kube/object.ts'
import { picked, readAhead } from '../kube/read-cache.ts'
import { selectorTest, selectorText } from '../kube/selectors.ts'

/** A PodDisruptionBudget over virt-launcher pods that allows none of them to be evicted. */
export interface BlockingBudget {
  namespace: string
  name: string
  /** Kubernetes cannot count the pods: it asks their VMI for a size, which it does not have (kubevirt issue 18063). */
  isUncounted: boolean
  /** What Kubernetes says of that. */
  message?: string
  /** As it is written. */
  maxUnavailable?: number | string
  /** Pods that it covers and that are healthy. */
  healthy: number
}

/** So many are compared with pods by a request each; of more the launchers of the cluster are listed once. */
const askedSingly = 50
/** Platforms have budgets for what they run once; nobody runs VMs there. */
const ofPlatform = /^(?:openshift|kube)-/u

/**
 * Those of the cluster that allow no disruption and cover virt-launchers; not those that KubeVirt makes for a VMI itself. Of one that Kubernetes can count the
 * launcher pods are asked for, be they as many as they are. Throws ApiError.
 */
export async function blockingBudgets(reader: Reader): Promise<BlockingBudget[]> {
  const found = await picked(reader, PodDisruptionBudgets, mayBlock)
  const uncounted = found.filter(isUncounted)
  const counted = found.filter((budget) => !isUncounted(budget))
  const covers =
    counted.length > askedSingly
      ? await coveredOf(reader)
      : (budget: PodDisruptionBudget) => coversLaunchers(reader, budget)
  const covering = await Promise.all(counted.map(async (budget) => ((await covers(budget)) ? [budget] : [])))
  return [...uncounted, ...covering.flat()].map(blockingBudget)
}

const mayBlock = (budget: PodDisruptionBudget): boolean =>
  allowsNothing(budget) && !isOfVmi(budget) && !ofPlatform.test(budget.metadata.namespace ?? '')

/** One that covers no pod allows none as well, and blocks nobody. */
function allowsNothing({ status }: PodDisruptionBudget): boolean {
  const { disruptionsAllowed = 1, expectedPods = 0, currentHealthy = 0 } = status ?? {}
  return disruptionsAllowed === 0 && expectedPods + currentHealthy > 0
}

const isOfVmi = ({ metadata }: PodDisruptionBudget): boolean =>
  metadata.ownerReferences?.some(({ kind }) => kind.startsWith('VirtualMachineInstance')) ?? false

function isUncounted(budget: PodDisruptionBudget): boolean {
  const said = condition(budget, 'DisruptionAllowed')
  return (
    said?.status === 'False' &&
    said.reason === 'SyncFailed' &&
    /virtualmachineinstances?\.kubevirt\.io/u.test(said.message ?? '')
  )
}

async function coversLaunchers(reader: Reader, { metadata, spec }: PodDisruptionBudget): Promise<boolean> {
  if (spec?.selector === undefined) return false
  const own = selectorText(spec.selector)
  if (own.split(',').includes(launchers)) return true
  // Components of KubeVirt and others' pods have another value, or none.
  const labels = [own, launchers].filter((text) => text !== '').join()
  return (await reader.list(Pods, { namespace: metadata.namespace, labels })).length > 0
}

const launchers = 'kubevirt.io=virt-launcher'

/** The same by one list of all launchers, of which the labels stay. Throws ApiError. */
async function coveredOf(reader: Reader): Promise<(budget: PodDisruptionBudget) => boolean> {
  const labels = new Map<string, (Record<string, string> | undefined)[]>()
  for await (const { items } of readAhead(reader.pages(Pods, { labels: launchers })))
    for (const { metadata } of items) {
      const { namespace = '' } = metadata
      const there = labels.get(namespace) ?? []
      labels.set(namespace, there)
      there.push(metadata.labels)
    }
  return ({ metadata, spec }) => {
    const isSelected = selectorTest(spec?.selector)
    return (labels.get(metadata.namespace ?? '') ?? []).some((one) => isSelected(one))
  }
}

function blockingBudget(budget: PodDisruptionBudget): BlockingBudget {
  const { metadata, spec, status } = budget
  const message = condition(budget, 'DisruptionAllowed')?.message
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    isUncounted: isUncounted(budget),
    ...(message && { message }),
    ...(spec?.maxUnavailable !== undefined && { maxUnavailable: spec.maxUnavailable }),
    healthy: status?.currentHealthy ?? 0,
  }
}
