import type { Reader } from '../cluster/cluster.ts'
import { type CustomResourceDefinition, CustomResourceDefinitions } from '../cluster/kinds/extension.ts'
import type { Known } from './known.ts'
import { known } from './known.ts'

/**
 * The CRDs that virt-operator brings, by the label that it gives all of them: not the hundreds of a whole platform. Unknown where they may not be
 * read; throws every other ApiError.
 */
export function kubeVirtDefinitions(reader: Pick<Reader, 'list'>): Promise<Known<CustomResourceDefinition>> {
  return known(reader.list(CustomResourceDefinitions, { labels: 'kubevirt.io' }))
}
