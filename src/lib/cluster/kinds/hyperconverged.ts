import type { Kind } from '../kind.ts'
import type { Condition, KubeObject } from '../object.ts'

/** v1 keeps below `spec.virtualization` what v1beta1 has at the top of the spec, so that nothing is promised of it here. */
export interface HyperConverged extends KubeObject {
  spec?: Readonly<Record<string, unknown>>
  /** The same in both versions (ocp 1.5). */
  status?: {
    conditions?: (Condition & { observedGeneration?: number })[]
    observedGeneration?: number
    /** `operator`: the release whose operands are all there; on a fresh installation at once. */
    versions?: { name?: string; version?: string }[]
    relatedObjects?: { apiVersion?: string; kind?: string; name?: string; namespace?: string }[]
    systemHealthStatus?: string
    infrastructureHighlyAvailable?: boolean
  }
}

/** The one that is served by every release; name the version that is stored instead, see `storedHyperConverged`. */
export const HyperConvergeds: Kind<HyperConverged> = {
  apiVersion: 'hco.kubevirt.io/v1beta1',
  kind: 'HyperConverged',
  plural: 'hyperconvergeds',
  namespaced: true,
}
