import type { Reader } from '../../cluster/cluster.ts'
import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { findHyperConverged } from '../../facts/hyperconverged/find-hyperconverged.ts'
import { blocked, forbidden } from '../../system/errors.ts'
import { roleRemedy } from '../../system/role-remedy.ts'

/**
 * The one HyperConverged of the cluster, which is in this namespace. Its status alone is to be believed: it may have been read through another
 * version than the one that is stored. Throws `blocked` for none, several, or one elsewhere, `forbidden` where it may not be read.
 */
export async function hyperConvergedIn(reader: Reader, namespace: string): Promise<HyperConverged> {
  const found = await findHyperConverged(reader)
  if (!found.known)
    throw forbidden('hyperconverged-not-readable', `cannot tell where HyperConverged stands: ${found.why}`, {
      remedy: roleRemedy('kvup-olm'),
    })
  const [only, second] = found.items
  const remedy = 'kubectl get hyperconvergeds.hco.kubevirt.io -A'
  if (second !== undefined) {
    const names = found.items.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`).join(', ')
    throw blocked(
      'several-hyperconvergeds',
      `there are ${found.items.length} HyperConvergeds (${names}); a cluster has one`,
      {
        remedy: `${remedy}, then delete the one whose namespace has no hco-operator`,
      },
    )
  }
  if (only === undefined) throw blocked('no-hyperconverged', 'there is no HyperConverged here', { remedy })
  if (only.metadata.namespace === namespace) return only
  throw blocked(
    'hyperconverged-elsewhere',
    `hyperconvergeds.hco.kubevirt.io/${only.metadata.name} is in namespace ${only.metadata.namespace ?? ''}, its Subscription in ${namespace}: its operator ignores it there`,
    { remedy },
  )
}
