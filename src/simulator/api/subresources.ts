import { actedOn, type Kind, type KubeObject } from '../../lib/kube/object.ts'
import { at, type Json, text } from './json.ts'
import type { ObjectRef } from './etcd.ts'
import { conflict, notFound, Refusal, unserved } from './api-refusal.ts'
import type { Caller } from './api-request.ts'
import type { Store } from './store.ts'

interface NamedCall {
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
    store.subresource(kind, name) ?? (kind.kind === 'Pod' ? podSubresource(store, name) : undefined)
  if (!hook) throw unserved()
  return hook({ object, body, dryRun, user, parameters })
}

export interface SubresourceCall {
  readonly object: KubeObject
  readonly body: Json
  readonly dryRun: boolean
  readonly user: string
  /** Query parameters: `container`, `tailLines`, `previous`. */
  readonly parameters: Readonly<Record<string, string>>
}

/** Answers with an object, or with text (pods/log). Throws a Refusal to refuse. */
export type SubresourceHook = (call: SubresourceCall) => object | string

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** What the API server itself answers for a pod where no other part does; undefined: that subresource is not served. */
function podSubresource(store: Store, name: string): SubresourceHook | undefined {
  if (name === 'log') return () => ''
  if (name === 'eviction')
    return ({ object, dryRun, user }) => {
      store.remove(pods, object.metadata, { dryRun, user })
      return success
    }
  return name === 'binding' ? (call) => bind(store, call) : undefined
}

const binding = { apiVersion: 'v1', plural: 'pods/binding' }
const pods = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true } as const

/** How a scheduler gives a pod its node: a patch of spec.nodeName is refused by a real server. */
function bind(store: Store, { object, body, dryRun, user }: Parameters<SubresourceHook>[0]): object {
  const before = text(object, 'spec', 'nodeName')
  const { name } = object.metadata
  if (before !== undefined)
    throw conflict(binding, name, `pod ${name} is already assigned to node "${before}"`)
  const bound = {
    ...object,
    spec: { ...(at(object, 'spec') as object), nodeName: text(body, 'target', 'name') },
  }
  store.update(pods, object.metadata, bound, { dryRun, user, manager: 'kube-scheduler' })
  return success
}

export const Services: Kind = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }

/** `services/[scheme:]NAME[:port]/proxy/PATH`: RBAC sees the name with its parts, and of the subresource `proxy` alone. */
export const accessPart = (subresource: string | undefined): string | undefined =>
  subresource?.startsWith('proxy/') ? 'proxy' : subresource

/** Throws 404 where there is no such Service, and 503 where nobody listens behind it. */
function throughService(store: Store, { ref, path, user }: { ref: ObjectRef; path: string; user: string }) {
  const name = ref.name.split(':').find((part) => part !== 'https' && part !== 'http') ?? ''
  const object = store.read(Services, { ...ref, name })
  if (!object) throw notFound(Services, name)
  const hook = store.subresource(Services, `proxy of ${name}`)
  if (!hook) throw new Refusal(503, 'ServiceUnavailable', `no endpoints available for service "${ref.name}"`)
  return hook({ object, body: {}, dryRun: false, user, parameters: { path } })
}
