import type { Access, ServerVersion, Where } from '../cluster.ts'
import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'

/** Of what a snapshot's first object is: what was asked, and what was answered. Everything else in it is plain Kubernetes objects. */
export interface SnapshotIndex extends KubeObject {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'SnapshotIndex'
  /** RFC 3339. */
  takenAt: string
  /** Of kvup. */
  takenBy: string
  redacted: boolean
  /** How many objects follow: fewer is a truncated file. */
  objects: number
  kubevirtNamespace?: string
  serverVersion?: ServerVersion
  /** Everything of such a kind, in such a place, is in it: what is missing did not exist. */
  read: readonly Question[]
  /** Why something is not: an answer of the server, and not "there are none". */
  unread: readonly Unread[]
  /** Versions of API groups that were asked for. */
  groups: Readonly<Record<string, readonly string[]>>
  /** What the user could do. */
  rights: readonly { access: Access; allowed: boolean }[]
}

/** One list, or one object by its name. */
export interface Question extends Omit<Where, 'pageSize'> {
  apiVersion: string
  kind: string
}

export interface Unread extends Question {
  /** HTTP status: 403, 404. */
  code: number
  /** `metav1.Status.reason`; `Unserved` where the kind is not known to the server. */
  reason: string
  why: string
}

export const isIndex = (object: KubeObject): object is SnapshotIndex =>
  object.apiVersion === 'kvup.io/v1alpha1' && object.kind === 'SnapshotIndex'

export function questionOf({ apiVersion, kind }: Kind, where: Where): Question {
  const { namespace, name, labels, fields } = where
  return {
    apiVersion,
    kind,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(labels !== undefined && { labels }),
    ...(fields !== undefined && { fields }),
  }
}

const limits = ['namespace', 'name', 'labels', 'fields'] as const

/** Whether whoever knows the answer to `wide` knows that to `asked` as well. */
export function covers(wide: Question, asked: Question): boolean {
  return (
    wide.apiVersion === asked.apiVersion &&
    wide.kind === asked.kind &&
    limits.every((limit) => wide[limit] === undefined || wide[limit] === asked[limit])
  )
}
