import type { Metadata } from '../kube/object.ts'

/** Who it is, and what others said of it. */
export function identityOf({ name, namespace, labels, annotations }: Metadata): Metadata {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  }
}
