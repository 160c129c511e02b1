import { actedOn } from '../../cluster/acted-on.ts'
import type { Kind } from '../../cluster/kind.ts'
import type { Json } from './json.ts'
import type { ObjectRef } from './object-table.ts'
import { podSubresource } from './pod-subresources.ts'
import { notFound, unserved } from './refusal.ts'
import type { Caller } from './request.ts'
import { accessPart, Services, throughService } from './service-proxy.ts'
import type { Store } from './store.ts'

export interface NamedCall {
  readonly kind: Pick<Kind, 'apiVersion' | 'plural'> & Kind
  readonly ref: ObjectRef
  readonly name: string
  readonly body?: Json
  readonly dryRun?: boolean
  readonly parameters?: Readonly<Record<string, string>>
}

/** Throws 404 when there is no such object, or nobody answers for that subresource. */
export function callSubresource(store: Store, { user }: Caller, call: NamedCall): object | string {
  const { ref, name, body = {}, dryRun = false, parameters = {} } = call
  const kind = actedOn(call.kind)
  if (kind.plural === Services.plural && accessPart(name) === 'proxy')
    return throughService(store, { ref, path: name.slice('proxy/'.length), user })
  const object = store.read(kind, ref)
  if (!object) throw notFound(kind, ref.name)
  const hook =
    store.subresources.find(kind, name) ?? (kind.kind === 'Pod' ? podSubresource(store, name) : undefined)
  if (!hook) throw unserved()
  return hook({ object, body, dryRun, user, parameters })
}
