import type { Reader } from '../../cluster/cluster.ts'
import { type ResourceQuota, ResourceQuotas } from '../../cluster/kinds/resource-quotas.ts'
import { readAhead } from '../../cluster/read-ahead.ts'
import { quantity } from '../../system/quantity.ts'
import type { Resources } from './launcher-resources.ts'

/** What the quotas of a namespace still allow, by namespace. */
export type QuotaRoom = ReadonlyMap<string, readonly { quota: string; resource: string; left: number }[]>

/** Which part of what a pod asks for a limit of a quota counts. */
const counts: Readonly<Record<string, string>> = {
  pods: 'pods',
  'count/pods': 'pods',
  memory: 'memory',
  'requests.memory': 'memory',
  cpu: 'cpu',
  'requests.cpu': 'cpu',
}

/** Of quotas with a scope nothing is said: which pods they count depends on more than is seen here. Throws ApiError. */
export async function readQuotas(reader: Reader): Promise<QuotaRoom> {
  const room = new Map<string, { quota: string; resource: string; left: number }[]>()
  for await (const { items } of readAhead(reader.pages(ResourceQuotas)))
    for (const quota of items.filter((one) => !isScoped(one))) {
      const { namespace = '', name } = quota.metadata
      const { hard = {}, used = {} } = quota.status ?? {}
      const lines = Object.entries(hard).flatMap(([resource, limit]) => {
        const most = quantity(limit)
        const now = quantity(used[resource] ?? '0')
        return counts[resource] === undefined || most === undefined || now === undefined
          ? []
          : [{ quota: name, resource, left: most - now }]
      })
      room.set(namespace, [...(room.get(namespace) ?? []), ...lines])
    }
  return room
}

function isScoped(quota: ResourceQuota): boolean {
  const { spec } = quota as { spec?: { scopes?: unknown[]; scopeSelector?: unknown } }
  return (spec?.scopes?.length ?? 0) > 0 || spec?.scopeSelector !== undefined
}

/** The quota that refuses the second pod of a migration (facts 3.3), `compute (requests.memory)`. Pure. */
export function refusedBy(room: QuotaRoom, namespace: string, asked: Resources): string | undefined {
  const refusing = room
    .get(namespace)
    ?.find(({ resource, left }) => (asked[counts[resource] ?? ''] ?? 0) > left)
  return refusing && `${refusing.quota} (${refusing.resource})`
}
