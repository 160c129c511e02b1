import type { KubeObject } from '../../cluster/object.ts'
import { unserved } from './refusal.ts'
import type { Store } from './store.ts'

const namespaces = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false } as const

/**
 * Puts objects in as they are, status included, past admission and validation; makes the namespaces that are missing.
 * Throws 404 for a kind that the store does not serve.
 */
export function seed(store: Store, objects: readonly KubeObject[], manager?: string): void {
  for (const object of objects) {
    const kind = store.kinds.ofObject(object)
    if (!kind) throw unserved()
    const { namespace } = object.metadata
    if (namespace !== undefined && kind.namespaced) ensureNamespace(store, namespace)
    store.put(kind, object, manager)
  }
}

export function ensureNamespace(store: Store, name: string): void {
  if (store.read(namespaces, { name })) return
  store.put(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}
