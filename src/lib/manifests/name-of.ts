import type { KubeObject } from '../cluster/object.ts'

/** `Deployment virt-operator`: how an object of a manifest is named to a person. */
export function nameOf({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind} ${metadata.name}`
}
