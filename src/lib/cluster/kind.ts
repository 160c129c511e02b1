import type { KubeObject } from './object.ts'

/** A kind that kvup talks to. The type parameter travels with the value, so that `find(KubeVirts, …)` is typed. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** `v1` or `group/version`. */
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** Only the metadata is listed; an answer of whole objects is as good. Who follows gets those. */
  readonly metadataOnly?: true
  /** Never set; carries T. */
  readonly shape?: T
}

/** The same kind under another version of its group. */
export function atVersion<T extends KubeObject>(kind: Kind<T>, version: string): Kind<T> {
  return { ...kind, apiVersion: [...kind.apiVersion.split('/').slice(0, -1), version].join('/') }
}

/** The same kind, for who lists it and needs no more than the metadata. */
export function metadataOf({ apiVersion, kind, plural, namespaced }: Kind): Kind {
  return { apiVersion, kind, plural, namespaced, metadataOnly: true }
}

/** Whole objects of it again, for who keeps what others asked for. */
export function wholeOf<T extends KubeObject>(kind: Kind<T>): Kind<T> {
  const { metadataOnly: _, ...whole } = kind
  return whole
}

/** `` for the core group. */
export function groupOf({ apiVersion }: Pick<Kind, 'apiVersion'>): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

/** `deployments.apps`, `pods`: as RBAC and error messages name it. */
export function resourceOf(kind: Pick<Kind, 'apiVersion' | 'plural'>): string {
  const group = groupOf(kind)
  return group === '' ? kind.plural : `${kind.plural}.${group}`
}
