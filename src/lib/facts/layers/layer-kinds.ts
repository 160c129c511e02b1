import type { Where } from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import { HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import { ClusterOperators, ClusterVersions, MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import {
  CatalogSources,
  ClusterServiceVersions,
  copiedFromLabel,
  InstallPlans,
  OperatorConditions,
  OperatorGroups,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import type { Layer } from './layer.ts'

const kinds: { readonly [L in Layer['layer']]?: readonly Kind[] } = {
  platform: [ClusterVersions, ClusterOperators],
  pool: [MachineConfigPools],
  catalog: [CatalogSources],
  subscription: [Subscriptions, InstallPlans, ClusterServiceVersions, OperatorConditions, OperatorGroups],
  hyperconverged: [HyperConvergeds],
}

/** What to follow so that a change of these layers is seen. `namespace` is that of KubeVirt, which its operator shares. */
export function layerKinds(
  layers: readonly Layer[],
  namespace: string | undefined,
): readonly (readonly [Kind, Where])[] {
  const there = new Set(layers.map(({ layer }) => layer))
  return [...there].flatMap((layer) =>
    (kinds[layer] ?? []).map((kind) => [kind, whereOf(kind, namespace)] as const),
  )
}

/** CSVs are copied to every namespace (ocp 2.7), catalogs are elsewhere. */
function whereOf(kind: Kind, namespace: string | undefined): Where {
  if (kind.plural === CatalogSources.plural || !kind.namespaced) return {}
  const isCopied = kind.plural === ClusterServiceVersions.plural || kind.plural === OperatorConditions.plural
  return isCopied ? { namespace, labels: `!${copiedFromLabel}` } : { namespace }
}
