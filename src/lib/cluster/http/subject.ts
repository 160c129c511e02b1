import type { Ref } from '../cluster.ts'
import { type Kind, resourceOf } from '../kind.ts'

/** What a request is about, as RBAC and people name it. */
export interface Subject {
  verb: string
  /** `deployments.apps`, `kubevirts.kubevirt.io/status`, `/version`. */
  resource: string
  namespace?: string | undefined
  name?: string | undefined
  /** It is a POST, and only a question. */
  changesNothing?: true
}

export function subjectOf(verb: string, kind: Kind, ref: Partial<Ref>, subresource?: string): Subject {
  const resource = resourceOf(kind) + (subresource === undefined ? '' : `/${subresource}`)
  return {
    verb,
    resource,
    name: ref.name,
    ...(kind.namespaced && ref.namespace !== undefined && { namespace: ref.namespace }),
  }
}

/** `kubevirts.kubevirt.io/kubevirt in namespace kubevirt` */
export function inWords({ resource, namespace, name }: Subject): string {
  const what = name === undefined || name === '' ? resource : `${resource}/${name}`
  return namespace === undefined ? what : `${what} in namespace ${namespace}`
}
