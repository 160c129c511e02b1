import type { KubeObject } from '../cluster/object.ts'

/** What is said of a KubeVirt or HyperConverged that somebody takes away, by its plural; undefined of one that stays. */
export function beingDeleted(plural: string, { metadata }: KubeObject): string | undefined {
  const { name, namespace = '', deletionTimestamp: since } = metadata
  if (since === undefined) return undefined
  return `${plural}/${name} in namespace ${namespace} is being deleted, since ${since}`
}
