import type { Reader } from '../../cluster/cluster.ts'
import {
  type CatalogSource,
  CatalogSources,
  type PackageManifest,
  PackageManifests,
  type Subscription,
} from '../../cluster/kinds/operator-lifecycle.ts'

interface Offer {
  package: string
  source: string
  namespace: string
}

/** The catalogs that Subscriptions name; one that is gone is left out. Throws ApiError. */
export async function catalogsOf(
  reader: Reader,
  subscriptions: readonly Subscription[],
): Promise<CatalogSource[]> {
  const found = await Promise.all(
    offersOf(subscriptions).map(async ({ source, namespace }) =>
      reader.find(CatalogSources, { name: source, namespace }),
    ),
  )
  return found.flatMap((answer) => (answer.is === 'object' ? [answer.object] : []))
}

/** What those catalogs offer of the package: the same package may be in several (ocp 2.6). Throws ApiError, 404 without the aggregated API. */
export async function packageManifestsOf(
  reader: Reader,
  subscriptions: readonly Subscription[],
): Promise<PackageManifest[]> {
  const found = await Promise.all(
    offersOf(subscriptions).map(async ({ package: name, source, namespace }) => {
      const all = await reader.list(PackageManifests, { namespace, name })
      return all.filter(({ status }) => status?.catalogSource === source)
    }),
  )
  return found.flat()
}

function offersOf(subscriptions: readonly Subscription[]): Offer[] {
  const offers = subscriptions.map(({ spec = {}, metadata }) => ({
    package: spec.name ?? '',
    source: spec.source ?? '',
    namespace: spec.sourceNamespace ?? metadata.namespace ?? '',
  }))
  return [...new Map(offers.map((offer) => [JSON.stringify(offer), offer])).values()]
}
