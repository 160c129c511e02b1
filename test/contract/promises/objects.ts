import { type ConfigMap, ConfigMaps, type Lease } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Deployment } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeVirt } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Found } from '../../../src/lib/kube/cluster.ts'
import type { Metadata } from '../../../src/lib/kube/object.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import type { Backend } from '../contract-backend.ts'

let count = 0
/** A name that no other test uses. */
export const fresh = (what: string): string => `${what}-${++count}-${Math.random().toString(36).slice(2, 7)}`

type More = Partial<Metadata>

export const configMap = (backend: Backend, data: Record<string, string>, more: More = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: fresh('map'), namespace: backend().namespace, ...more },
  data,
})

export const lease = (backend: Backend, holder: string, more: More = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: fresh('lease'), namespace: backend().namespace, ...more },
  spec: { holderIdentity: holder, leaseDurationSeconds: 15 },
})

export const kubeVirt = (backend: Backend, spec: KubeVirt['spec']): KubeVirt => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: fresh('kubevirt'), namespace: backend().namespace },
  ...(spec && { spec }),
})

export const deployment = (backend: Backend, containers: { name: string; image: string }[]): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: fresh('deployment'), namespace: backend().namespace },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'contract' } },
    template: { metadata: { labels: { app: 'contract' } }, spec: { containers } },
  },
})

export const createMap = (
  backend: Backend,
  data: Record<string, string>,
  more: More = {},
): Promise<ConfigMap> => backend().cluster.writer.create(ConfigMaps, configMap(backend, data, more))

/** Name and namespace of an object. */
export const refOf = ({ metadata: { name, namespace } }: { metadata: Metadata }) => ({ name, namespace })

export function objectIn<T>(found: Found<T>): T {
  if (found.is !== 'object') throw new Error(`expected an object, it is ${found.is}`)
  return found.object
}

/** The refusal that a call ends with. */
export async function refusal(call: Promise<unknown>): Promise<ApiError> {
  const ended = await call.then(
    () => 'it was accepted',
    (error: unknown) => error,
  )
  if (ended instanceof ApiError) return ended
  throw new Error(`expected an ApiError, got: ${String(ended)}`)
}
