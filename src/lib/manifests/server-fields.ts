import type { KubeObject, Metadata } from '../cluster/object.ts'

const serverMetadata = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'ownerReferences',
  'selfLink',
])

const bookkeeping =
  /^(kubectl\.kubernetes\.io\/last-applied-configuration|deployment\.kubernetes\.io\/revision)$/

/** The object as a person would write it: no status, no uid, nothing that only the server or a controller keeps. */
export function withoutServerFields(object: KubeObject): KubeObject {
  const {
    apiVersion,
    kind,
    metadata: known,
    status: _,
    ...rest
  } = object as KubeObject & { status?: unknown }
  const metadata = without(known, (key) => serverMetadata.has(key)) as unknown as Metadata
  if (metadata.annotations !== undefined) {
    const annotations = without(metadata.annotations, (key) => bookkeeping.test(key)) as Record<
      string,
      string
    >
    if (Object.keys(annotations).length > 0) metadata.annotations = annotations
    else delete metadata.annotations
  }
  return { apiVersion, kind, metadata, ...rest }
}

function without(from: object, unwanted: (key: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !unwanted(key)))
}
