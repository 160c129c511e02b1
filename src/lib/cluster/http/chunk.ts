import type { Page, Where } from '../cluster.ts'
import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import type { Patience } from './backoff.ts'
import { objectPath, selectors, withQuery } from './object-path.ts'
import type { Requests } from './requests.ts'
import { isList, type ListBody, unlike } from './shape.ts'
import { withoutNulls } from '../saved/without-nulls.ts'
import { subjectOf } from './subject.ts'

export interface Chunk<T> extends Page<T> {
  next: string | undefined
}

export interface Listing<T extends KubeObject> {
  kind: Kind<T>
  where: Where
  patience: Patience
  signal?: AbortSignal
}

/** Kubernetes API concepts, "Metadata-only fetches". */
const metadataList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'

/** As many as client-go asks for at once. */
const pageSize = 500

/**
 * One page; every item says what it is, which list items do not on the wire. An answer that is no list is a failure, and
 * never "there are none".
 */
export async function chunk<T extends KubeObject>(
  requests: Requests,
  { kind, where, patience, signal }: Listing<T>,
  token: string | undefined,
): Promise<Chunk<T>> {
  const query = { limit: String(where.pageSize ?? pageSize), continue: token, ...selectors(where) }
  const subject = subjectOf('list', kind, { namespace: where.namespace })
  const answer = await requests.list({
    method: 'GET',
    path: withQuery(objectPath(kind, { namespace: where.namespace }), query),
    subject,
    patience,
    ...(kind.metadataOnly && { accept: metadataList }),
    ...(signal !== undefined && { signal }),
  })
  if (!isList(answer)) throw requests.error(unlike(`a list of ${kind.kind}`, answer), subject)
  if (answer.metadata?.continue && answer.metadata.continue === token)
    throw requests.error(unlike('the next page', { metadata: answer.metadata }), subject)
  return chunkOf(kind, answer)
}

function chunkOf<T extends KubeObject>(kind: Kind<T>, { items, metadata = {} }: ListBody): Chunk<T> {
  const { remainingItemCount: remaining } = metadata
  return {
    items: (items ?? []).map((item) => named(kind, withoutNulls(item) as T)),
    resourceVersion: metadata.resourceVersion ?? '',
    next: metadata.continue || undefined,
    ...(remaining !== undefined && { remaining }),
  }
}

/** Metadata alone says of itself that it is a PartialObjectMetadata. */
function named<T extends KubeObject>({ apiVersion, kind, metadataOnly }: Kind<T>, item: T): T {
  return metadataOnly ? { ...item, apiVersion, kind } : Object.assign({ apiVersion, kind }, item)
}
