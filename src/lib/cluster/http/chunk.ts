import type { Page, Where } from '../cluster.ts'
import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import type { Patience } from './backoff.ts'
import { objectPath, selectors, withQuery } from './object-path.ts'
import type { Requests } from './requests.ts'
import { subjectOf } from './subject.ts'

interface ListBody<T> {
  items?: T[] | null
  metadata?: { continue?: string; remainingItemCount?: number; resourceVersion?: string }
}

export interface Chunk<T> extends Page<T> {
  next: string | undefined
}

export interface Listing<T extends KubeObject> {
  kind: Kind<T>
  where: Where
  patience: Patience
  signal?: AbortSignal
}

/** As many as client-go asks for at once. */
const pageSize = 500

/** One page; every item says what it is, which list items do not on the wire. */
export async function chunk<T extends KubeObject>(
  requests: Requests,
  { kind, where, patience, signal }: Listing<T>,
  token: string | undefined,
): Promise<Chunk<T>> {
  const query = { limit: String(pageSize), continue: token, ...selectors(where) }
  const { items, metadata } = await requests.json<ListBody<T>>({
    method: 'GET',
    path: withQuery(objectPath(kind, { namespace: where.namespace }), query),
    subject: subjectOf('list', kind, { namespace: where.namespace }),
    patience,
    ...(signal !== undefined && { signal }),
  })
  const remaining = metadata?.remainingItemCount
  return {
    items: (items ?? []).map((item) => Object.assign({ apiVersion: kind.apiVersion, kind: kind.kind }, item)),
    resourceVersion: metadata?.resourceVersion ?? '',
    next: metadata?.continue || undefined,
    ...(remaining !== undefined && { remaining }),
  }
}
