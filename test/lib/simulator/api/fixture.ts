import { type ConfigMap, ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import type { KubeObject } from '../../../../src/lib/kube/object.ts'
import { ensureNamespace, Store, type StoreOptions } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'

export const namespace = 'a'

export function freshStore(options: StoreOptions = {}): Store {
  const store = new Store(new SimClock(), options)
  ensureNamespace(store, namespace)
  return store
}

export const map = (name: string, more: Partial<KubeObject['metadata']> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, ...more },
  data: { a: '1' },
})

export const createMap = (
  store: Store,
  name: string,
  more: Partial<KubeObject['metadata']> = {},
): KubeObject => store.create(ConfigMaps, map(name, more), { manager: 'test' })

/** The refusal that a call throws. */
export function refused(call: () => unknown): ApiError {
  try {
    call()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was accepted')
}
