import type { ClusterShape } from './initial-objects.ts'

/** The namespace in which KubeVirt and its operators are. */
export function namespaceOf({ namespace, olm }: Pick<ClusterShape, 'namespace' | 'olm'>): string {
  return olm?.namespace ?? namespace ?? 'kubevirt'
}
