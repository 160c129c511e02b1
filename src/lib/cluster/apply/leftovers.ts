import type { KubeObject, ManagedField } from '../object.ts'
import { isApplier } from './appliers.ts'
import { isZero } from './differences.ts'
import { type FieldPath, type Fields, isFields, mergeKey, valueAt } from './field-path.ts'
import { elementKey, owns } from './owned-fields.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Fields that an earlier apply has set and the manifest no longer has: the next apply removes them. After a client-side apply
 * its annotation tells (its ownership also covers the server's defaults), after a server-side one the ownership. What somebody else owns as well
 * stays.
 */
export function leftovers(wanted: KubeObject, live: KubeObject): FieldPath[] {
  const before = live.metadata.annotations?.[lastApplied]
  const inAnnotation = before === undefined ? [] : dropped(parsed(before), wanted, [])
  const owned = (live.metadata.managedFields ?? [])
    .filter((e) => e.operation === 'Apply' && (e.manager === 'kvup' || e.manager === 'kubectl'))
    .flatMap((e) => orphaned(e.fieldsV1 ?? {}, wanted, []))
  const others = (live.metadata.managedFields ?? []).filter(
    (entry) => !isApplier(entry) && !isOwnApply(entry),
  )
  const goes = (path: FieldPath) =>
    valueAt(live, path) !== undefined && !others.some((entry) => owns(entry, path))
  return [...inAnnotation, ...owned].filter((path) => path.at(-1) !== lastApplied && goes(path))
}

const isOwnApply = ({ manager, operation }: ManagedField): boolean =>
  manager === 'kvup' && operation === 'Apply'

function parsed(annotation: string): unknown {
  try {
    return JSON.parse(annotation) as unknown
  } catch {
    return undefined
  }
}

/** What `before` has and `wanted` has not. */
function dropped(before: unknown, wanted: unknown, at: FieldPath): FieldPath[] {
  if (wanted === undefined) return isZero(before) ? [] : [at]
  if (Array.isArray(before)) {
    const key = mergeKey(at, before)
    if (key === undefined) return []
    return (before as Fields[]).flatMap((element) => {
      const step = { by: key, value: element[key] }
      return dropped(element, elementOf(wanted, step), [...at, step])
    })
  }
  if (!isFields(before) || !isFields(wanted)) return []
  return Object.entries(before).flatMap(([key, value]) => dropped(value, wanted[key], [...at, key]))
}

/** What `fields` of managedFields owns and `wanted` has not. */
function orphaned(fields: Fields, wanted: unknown, at: FieldPath): FieldPath[] {
  return Object.entries(fields).flatMap(([key, below]) => {
    const step = key.startsWith('f:') ? key.slice(2) : stepInto(key)
    if (step === undefined) return []
    const value = typeof step === 'string' ? (wanted as Fields)[step] : elementOf(wanted, step)
    const path = [...at, step]
    if (value === undefined || value === null) return [path]
    return isFields(below) && typeof value === 'object' ? orphaned(below, value, path) : []
  })
}

function stepInto(key: string): { by: string; value: unknown } | undefined {
  const [first] = Object.entries(elementKey(key) ?? {})
  return first && { by: first[0], value: first[1] }
}

function elementOf(list: unknown, step: { by: string; value: unknown }): unknown {
  return valueAt(list, [step])
}
