import type { Kind } from '../../cluster/kind.ts'
import type { ObjectRef } from './object-table.ts'
import { notFound, Refusal } from './refusal.ts'
import type { Store } from './store.ts'

export const Services: Kind = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }

/** `services/[scheme:]NAME[:port]/proxy/PATH`: RBAC sees the name with its parts, and of the subresource `proxy` alone. */
export const accessPart = (subresource: string | undefined): string | undefined =>
  subresource?.startsWith('proxy/') ? 'proxy' : subresource

/** Throws 404 where there is no such Service, and 503 where nobody listens behind it. */
export function throughService(
  store: Store,
  { ref, path, user }: { ref: ObjectRef; path: string; user: string },
): object | string {
  const name = ref.name.split(':').find((part) => part !== 'https' && part !== 'http') ?? ''
  const object = store.read(Services, { ...ref, name })
  if (!object) throw notFound(Services, name)
  const hook = store.subresources.find(Services, `proxy of ${name}`)
  if (!hook) throw new Refusal(503, 'ServiceUnavailable', `no endpoints available for service "${ref.name}"`)
  return hook({ object, body: {}, dryRun: false, user, parameters: { path } })
}
