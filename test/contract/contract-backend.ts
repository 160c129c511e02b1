import type { Cluster } from '../../src/lib/kube/cluster.ts'

/**
 * Something that claims to be a Kubernetes API. `namespace` exists, is empty of what the contract makes, and is the
 * backend's to throw away; the CRD of KubeVirt is installed and nobody acts on its objects.
 */
export interface ContractBackend {
  cluster: Cluster
  namespace: string
  close(): Promise<void>
}

/** The backend of the running suite; only there once its `beforeAll` is over. */
export type Backend = () => ContractBackend
