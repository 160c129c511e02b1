import type { Json } from '../json.ts'
import type { Listing } from '../store-request.ts'
import type { Store } from '../store.ts'
import { type Answer, ok } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { formOf, metadataOf, tableOf } from './table.ts'

export function listingOf({ route, query }: Pick<Exchange, 'route' | 'query'>): Listing {
  const limit = query.get('limit')
  return {
    namespace: route.namespace,
    labels: query.get('labelSelector') ?? undefined,
    fields: query.get('fieldSelector') ?? undefined,
    limit: limit === null ? undefined : Number(limit),
    continue: query.get('continue') ?? undefined,
  }
}

export function list(store: Store, exchange: Exchange): Answer {
  const { route, query, kind, accept } = exchange
  const page = store.list(route as Exchange['kind'], listingOf(exchange))
  const metadata: Json = {
    resourceVersion: page.resourceVersion,
    ...(page.continue !== undefined && { continue: page.continue }),
    // As the real one: the count is only known where no selector hides some.
    ...(page.remaining !== undefined &&
      !query.has('labelSelector') &&
      !query.has('fieldSelector') && { remainingItemCount: page.remaining }),
  }
  const form = formOf(accept)
  if (form === 'table')
    return ok(
      tableOf(kind, page.items, {
        at: store.clock.now(),
        include: query.get('includeObject') ?? 'Metadata',
        metadata,
      }),
    )
  if (form === 'metadata')
    return ok({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      items: page.items.map((o) => metadataOf(o)),
    })
  return ok({ kind: `${kind.kind}List`, apiVersion: route.apiVersion, metadata, items: page.items })
}
