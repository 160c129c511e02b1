import { at, text } from './json.ts'
import { alreadyBound } from './refusal.ts'
import type { SubresourceHook } from './subresources.ts'
import type { Store } from './store.ts'

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** What the API server itself answers for a pod where no other part does; undefined: that subresource is not served. */
export function podSubresource(store: Store, name: string): SubresourceHook | undefined {
  if (name === 'log') return () => ''
  if (name === 'eviction')
    return ({ object, dryRun, user }) => {
      store.remove(pods, object.metadata, { dryRun, user })
      return success
    }
  return name === 'binding' ? (call) => bind(store, call) : undefined
}

const pods = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true } as const

/** How a scheduler gives a pod its node: a patch of spec.nodeName is refused by a real server. */
function bind(store: Store, { object, body, dryRun, user }: Parameters<SubresourceHook>[0]): object {
  const before = text(object, 'spec', 'nodeName')
  if (before !== undefined) throw alreadyBound(object.metadata.name, before)
  const bound = {
    ...object,
    spec: { ...(at(object, 'spec') as object), nodeName: text(body, 'target', 'name') },
  }
  store.update(pods, object.metadata, bound, { dryRun, user, manager: 'kube-scheduler' })
  return success
}
