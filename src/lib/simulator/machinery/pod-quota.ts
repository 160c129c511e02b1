import { Pods } from '../../cluster/kinds/pods.ts'
import { type ResourceQuota, ResourceQuotas } from '../../cluster/kinds/resource-quotas.ts'
import { Refusal } from '../api/refusal.ts'
import type { Store } from '../api/store.ts'
import type { Faults, MachineryFaults } from './faults.ts'

const name = 'pods'

/** The fault `quota`: a ResourceQuota that lets as many pods be as there are, and the API server that holds it. */
export function limitPods(store: Store, faults: Faults<MachineryFaults>): void {
  let inForce: string | undefined
  const enforce = () => {
    const { quota } = faults.on
    if (quota === inForce) return
    if (inForce !== undefined) store.remove(ResourceQuotas, { name, namespace: inForce })
    if (quota !== undefined) store.put(ResourceQuotas, usedUp(quota, count(store, quota)))
    inForce = quota
  }
  faults.onChange(enforce, new AbortController().signal)
  store.admission.add(({ operation, kind, object: { metadata } }) => {
    const { namespace } = metadata
    if (operation !== 'CREATE' || kind.kind !== Pods.kind || namespace !== inForce || !namespace) return
    const hard = Number(limitOf(store, namespace) ?? Infinity)
    const used = count(store, namespace)
    if (used >= hard) throw exceeded(metadata.name, { used, hard })
  })
}

const count = (store: Store, namespace: string): number =>
  store
    .list(Pods, { namespace })
    .items.filter(
      (pod) =>
        !['Succeeded', 'Failed'].includes((pod as { status?: { phase?: string } }).status?.phase ?? ''),
    ).length

function limitOf(store: Store, namespace: string): string | undefined {
  const quota: ResourceQuota | undefined = store.read(ResourceQuotas, { name, namespace })
  return quota?.status?.hard?.['pods']
}

function usedUp(namespace: string, pods: number): ResourceQuota {
  const hard = { pods: String(pods) }
  return {
    apiVersion: ResourceQuotas.apiVersion,
    kind: ResourceQuotas.kind,
    metadata: { name, namespace },
    status: { hard, used: hard },
  }
}

function exceeded(pod: string, { used, hard }: { used: number; hard: number }): Refusal {
  const numbers = `requested: pods=1, used: pods=${used}, limited: pods=${hard}`
  return new Refusal(403, 'Forbidden', `pods "${pod}" is forbidden: exceeded quota: ${name}, ${numbers}`)
}
