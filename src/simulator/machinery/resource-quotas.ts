import { type Pod, Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { type ResourceQuota, ResourceQuotas } from '../../lib/kube/kinds/core-kinds.ts'
import { isRecord, parseJson } from '../../lib/kube/object.ts'
import { quantity } from '../../lib/kube/quantity.ts'
import { Refusal } from '../api/api-refusal.ts'
import type { Store } from '../api/store.ts'
import { ownKey } from '../own-keys.ts'
import type { Faults, MachineryFaults } from './machinery-faults.ts'
import { isOver, memoryOf } from './owned-pods.ts'
import { made } from './controller.ts'

/** What a pod takes of each resource that is counted here; of the others a quota lets everything pass. */
const taken: Readonly<Record<string, (pod: Pod) => number>> = {
  pods: () => 1,
  'count/pods': () => 1,
  memory: memoryOf,
  'requests.memory': memoryOf,
}

/** On a quota of a twin: what pods use of it that are not in the twin, by resource. */
const othersUse = ownKey('used-by-others')

/** The API server's part: a pod that would exceed a ResourceQuota of its namespace is not created. */
export function enforceQuotas(store: Store): void {
  store.admission.add(({ operation, kind, object }) => {
    const { namespace, name } = object.metadata
    if (operation !== 'CREATE' || kind.kind !== Pods.kind || namespace === undefined) return
    const quotas: readonly ResourceQuota[] = store.list(ResourceQuotas, { namespace }).items
    for (const quota of quotas) {
      const over = exceeded(store, quota, object)
      const message = `pods "${name}" is forbidden: exceeded quota: ${quota.metadata.name}, ${over}`
      if (over !== undefined) throw new Refusal(403, 'Forbidden', message)
    }
  })
}

/** In the API server's words; undefined where the pod has room. */
function exceeded(store: Store, quota: ResourceQuota, pod: Pod): string | undefined {
  const over = Object.entries(quota.status?.hard ?? {}).map(([resource, limit]) => {
    const hard = quantity(limit)
    const asked = taken[resource]?.(pod) ?? 0
    if (hard === undefined || asked === 0) return undefined
    const used = usedIn(store, quota, resource)
    if (used + asked <= hard) return undefined
    return `requested: ${resource}=${asked}, used: ${resource}=${used}, limited: ${resource}=${hard}`
  })
  return over.find((one) => one !== undefined)
}

function usedIn(store: Store, { metadata }: ResourceQuota, resource: string): number {
  const others = parseJson(metadata.annotations?.[othersUse] ?? '{}')
  const beside = isRecord(others) ? Number(others[resource] ?? 0) : 0
  return beside + usedBy(store, metadata.namespace ?? '', resource)
}

function usedBy(store: Store, namespace: string, resource: string): number {
  const pods: readonly Pod[] = store.list(Pods, { namespace }).items
  return pods.filter((pod) => !isOver(pod)).reduce((sum, pod) => sum + (taken[resource]?.(pod) ?? 0), 0)
}

/** The same quota with a note of what is used of it by pods that are not here. */
export function withOthersUse(store: Store, quota: ResourceQuota): ResourceQuota {
  const { annotations, namespace = '' } = quota.metadata
  const others = Object.entries(quota.status?.used ?? {})
    .filter(([resource]) => resource in taken)
    .map(([resource, used]): [string, number] => [
      resource,
      Math.max(0, (quantity(used) ?? 0) - usedBy(store, namespace, resource)),
    ])
  const note = JSON.stringify(Object.fromEntries(others))
  return { ...quota, metadata: { ...quota.metadata, annotations: { ...annotations, [othersUse]: note } } }
}

/** The fault `quota`: a ResourceQuota that lets as many pods be as there are. */
export function limitPods(store: Store, faults: Faults<MachineryFaults>): void {
  const name = 'pods'
  let inForce: string | undefined
  const enforce = () => {
    const { quota: namespace } = faults.on
    if (namespace === inForce) return
    if (inForce !== undefined) store.remove(ResourceQuotas, { name, namespace: inForce })
    inForce = namespace
    if (namespace === undefined) return
    const hard = { pods: String(usedBy(store, namespace, 'pods')) }
    const status = { hard, used: hard }
    store.put(ResourceQuotas, made(ResourceQuotas, { metadata: { name, namespace }, status }))
  }
  faults.onChange(enforce, new AbortController().signal)
}
