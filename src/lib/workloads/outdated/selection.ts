import type { Where } from '../../cluster/cluster.ts'
import { outdatedLabel, outdatedOnes } from '../../facts/workload-count.ts'

export interface Selection {
  namespace?: string | undefined
  /** A label selector, besides the one of outdated VMIs. */
  labels?: string | undefined
  node?: string | undefined
}

/** Its outdated VMIs, narrowed by the server. */
export function outdatedIn({ namespace, labels, node }: Selection): Where {
  const selector = [
    outdatedLabel,
    ...(labels ? [labels] : []),
    ...(node ? [`kubevirt.io/nodeName=${node}`] : []),
  ]
  return { ...outdatedOnes, namespace, labels: selector.join() }
}
