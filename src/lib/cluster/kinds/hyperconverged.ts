import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'

/** v1 keeps below `spec.virtualization` what v1beta1 has at the top of the spec, so that nothing is promised of it here. */
export interface HyperConverged extends KubeObject {
  spec?: Readonly<Record<string, unknown>>
}

/** The one that is served by every release; name the version that is stored instead, see `storedHyperConverged`. */
export const HyperConvergeds: Kind<HyperConverged> = {
  apiVersion: 'hco.kubevirt.io/v1beta1',
  kind: 'HyperConverged',
  plural: 'hyperconvergeds',
  namespaced: true,
}
