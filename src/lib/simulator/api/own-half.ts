import type { KubeObject } from '../../cluster/object.ts'
import { copy } from './json.ts'
import type { SimKind } from './sim-kind.ts'
import type { Write } from './store-request.ts'

/** The status of an apply to the main resource is nobody's, and the rest of one to the status subresource. */
export function ownHalf(kind: SimKind, given: KubeObject, on: Write['on']): KubeObject {
  const { apiVersion, metadata, status, ...spec } = copy(given) as KubeObject & { status?: unknown }
  if (!kind.status) return { ...spec, apiVersion, metadata, ...(status !== undefined && { status }) }
  if (on !== 'status') return { ...spec, apiVersion, metadata }
  const { name, namespace } = metadata
  const named = { name, ...(namespace !== undefined && { namespace }) }
  return { apiVersion, kind: kind.kind, metadata: named, ...(status !== undefined && { status }) }
}
