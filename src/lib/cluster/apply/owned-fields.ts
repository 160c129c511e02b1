import type { ManagedField } from '../object.ts'
import { type FieldPath, type Fields, type Segment, isFields } from './field-path.ts'

/** Does this entry of managedFields own the field? (`fieldsV1` of server-side apply: `f:` keys, `k:` elements, `v:` values.) */
export function owns({ fieldsV1, subresource }: ManagedField, path: FieldPath): boolean {
  if (subresource !== undefined && subresource !== '') return false
  let node: unknown = fieldsV1
  for (const [depth, segment] of path.entries()) {
    if (!isFields(node)) return false
    const below: unknown = child(node, segment)
    // A leaf above the field: the list or object is owned as a whole.
    if (below === undefined) return depth > 0 && Object.keys(node).length === 0
    node = below
  }
  return node !== undefined
}

function child(node: Fields, segment: Segment): unknown {
  if (typeof segment === 'string') return node[`f:${segment}`]
  const elements = Object.entries(node).filter(([key]) => /^[kvi]:/.test(key))
  if ('index' in segment) return elements[0]?.[1]
  return elements.find(([key]) => elementKey(key)?.[segment.by] === segment.value)?.[1]
}

/** `k:{"name":"virt-operator"}` as fields. */
export function elementKey(key: string): Fields | undefined {
  if (!key.startsWith('k:')) return undefined
  const parsed: unknown = JSON.parse(key.slice(2))
  return isFields(parsed) ? parsed : undefined
}

/** Both sets of fields in one, as kubectl joins them when it moves to server-side apply. */
export function union(a: Fields, b: Fields): Fields {
  const joined: Record<string, unknown> = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const before = joined[key]
    joined[key] = isFields(before) && isFields(value) ? union(before, value) : value
  }
  return joined
}
