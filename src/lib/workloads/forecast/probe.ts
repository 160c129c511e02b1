import type { Cluster } from '../../cluster/cluster.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { ApiError } from '../../system/errors.ts'
import { reason } from '../outdated/reasons.ts'
import type { ForecastItem, Probe } from './forecast-item.ts'

/** How many dry runs are under way at a time. */
const atOnce = 8

/** Reasons of those whose pod the workload updater evicts. */
const byEviction = new Set(['evict-on', 'evacuates', 'denied', 'budget', 'external'])

/** May evictions be asked for here, in one namespace or in all? Undefined: yes; else why not. Throws ApiError. */
export async function whyNotProbed(
  { reviewer }: Cluster,
  namespace: string | undefined,
): Promise<string | undefined> {
  const eviction = { verb: 'create', group: '', resource: 'pods', subresource: 'eviction' }
  const { allowed, reason: why } = await reviewer.can({ ...eviction, ...(namespace && { namespace }) })
  if (allowed) return undefined
  return `evictions are not probed: this user may not create pods/eviction${why ? ` (${why})` : ''}`
}

/**
 * Asks the server by dry runs what it says to the evictions that are forecast, and corrects the forecast where it says otherwise. Items and
 * VMIs are in the same order. Throws what the Writer throws for anything but a refusal.
 */
export async function probeEvictions(
  cluster: Cluster,
  items: readonly ForecastItem[],
  vmis: readonly VirtualMachineInstance[],
): Promise<readonly ForecastItem[]> {
  const probed: ForecastItem[] = []
  for (let from = 0; from < items.length; from += atOnce) {
    const some = items.slice(from, from + atOnce).map(async (item, i) => {
      const vmi = vmis[from + i]
      return vmi && item.why.some(({ id }) => byEviction.has(id)) ? probedItem(cluster, item, vmi) : item
    })
    probed.push(...(await Promise.all(some)))
  }
  return probed
}

async function probedItem(
  cluster: Cluster,
  item: ForecastItem,
  vmi: VirtualMachineInstance,
): Promise<ForecastItem> {
  const pod = await launcherOf(cluster, vmi)
  if (pod === undefined) return { ...item, probe: { answer: 'not asked', message: 'no pod of it was found' } }
  const probe = await evict(cluster, pod)
  return corrected({ ...item, probe })
}

async function launcherOf(
  { reader }: Cluster,
  { metadata, status }: VirtualMachineInstance,
): Promise<Pod | undefined> {
  const labels = `kubevirt.io/created-by=${metadata.uid}`
  const pods = await reader.list(Pods, { namespace: metadata.namespace, labels })
  const living = pods.filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed')
  return living.find(({ spec }) => spec?.nodeName === status?.nodeName) ?? living[0]
}

async function evict({ reviewer }: Cluster, { metadata }: Pod): Promise<Probe> {
  const { name, namespace } = metadata
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  try {
    await reviewer.rehearsal.subresource(Pods, metadata, { name: 'eviction', method: 'POST', body })
    return { answer: 'allowed' }
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 429 && error.status !== 403)) throw error
    const { message } = error
    return { answer: /triggered evacuation/iu.test(message) ? 'evacuates' : 'denied', message }
  }
}

const ends = new Set(['restarts', 'shuts down', 'is lost'])

/** What the server says beats what was worked out. */
function corrected(item: ForecastItem): ForecastItem {
  const { probe, will = 'stays', why } = item
  if (probe?.answer !== 'denied' || !ends.has(will)) return item
  return {
    ...item,
    will: 'stays',
    why: [reason('probe-denied', `the server refuses its eviction: ${probe.message}`), ...why],
  }
}
