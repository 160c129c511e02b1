import type { SimKind } from './api/sim-kind.ts'
import { componentKinds } from './hyperconverged/component-kinds.ts'
import { hyperConvergedKind } from './hyperconverged/objects.ts'
import type { ClusterShape } from './initial-objects.ts'
import { olmKinds } from './olm/kinds.ts'
import { installedBundle } from './olm/objects.ts'
import { openShiftKinds } from './openshift/kinds.ts'

/** The kinds that a cluster serves besides those of Kubernetes and KubeVirt. */
export function kindsOf({ hyperconverged, olm, openshift }: ClusterShape): SimKind[] {
  const own = olm === undefined ? hyperconverged : installedBundle(olm).crd
  return [
    ...(own ? [hyperConvergedKind(own)] : []),
    ...(olm ? [...olmKinds(), ...componentKinds()] : []),
    ...(openshift ? openShiftKinds(openshift) : []),
  ]
}
