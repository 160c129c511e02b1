import type { Reader } from '../../cluster/cluster.ts'
import type { PackageManifest, Subscription } from '../../cluster/kinds/operator-lifecycle.ts'
import { ApiError } from '../../system/errors.ts'
import { type Known, known } from '../known.ts'
import { packageManifestsOf } from './catalogs-of.ts'

/**
 * For a look, which loses nothing without them: PackageManifests come from a server of their own (ocp 2.6), and where that is away nothing else is.
 * Whoever decides by them asks `takeLifecycle`, and tries again.
 */
export async function shownPackages(
  reader: Reader,
  subscriptions: readonly Subscription[],
): Promise<Known<PackageManifest>> {
  try {
    return await known(packageManifestsOf(reader, subscriptions))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 500) throw error
    return { known: false, why: error.message }
  }
}
