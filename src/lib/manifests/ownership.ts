import type { JsonOperation } from '../cluster/cluster.ts'
import type { KubeObject, ManagedField } from '../cluster/object.ts'
import { type FieldPath, type Fields, pathText } from '../cluster/apply/field-path.ts'
import { isApplier } from '../cluster/apply/appliers.ts'
import { owns, union } from '../cluster/apply/owned-fields.ts'

/** Somebody who is not kubectl holds fields that the manifest sets to something else. */
export interface Conflict {
  manager: string
  fields: readonly string[]
}

/** Other kubectl commands (edit, label, scale): a person's hand; overruled where the manifest speaks, else left alone. */
const isOurs = (manager: string) =>
  manager === 'kvup' || manager.startsWith('kubectl') || isApplier({ manager })

/** Whom a forced apply would overrule: every foreign owner of a field that differs. */
export function conflicts(live: KubeObject, differing: readonly FieldPath[]): Conflict[] {
  const foreign = (live.metadata.managedFields ?? []).filter(({ manager = '' }) => !isOurs(manager))
  const taken = new Map<string, Set<string>>()
  for (const entry of foreign) {
    const fields = differing.filter((path) => owns(entry, path)).map(pathText)
    const before = taken.get(entry.manager ?? '') ?? []
    if (fields.length > 0) taken.set(entry.manager ?? '', new Set([...before, ...fields]))
  }
  return [...taken].map(([manager, fields]) => ({ manager: manager || '(no name)', fields: [...fields] }))
}

/**
 * A patch that gives kvup what the appliers own, so that the next apply also removes what the manifest no longer has.
 * Undefined where there is nothing to take over. Fails with 422 when the object changed meanwhile.
 */
export function ownershipPatch(live: KubeObject): JsonOperation[] | undefined {
  const entries = live.metadata.managedFields ?? []
  const theirs = entries.filter(isApplier)
  if (theirs.length === 0) return undefined
  const own = entries.find((e) => e.manager === 'kvup' && e.operation === 'Apply')
  const last = theirs.at(-1)
  const fields = [...theirs, ...(own ? [own] : [])].map((entry) => entry.fieldsV1 ?? {})
  const merged: ManagedField = {
    ...(own ?? last),
    manager: 'kvup',
    operation: 'Apply',
    fieldsV1: fields.reduce<Fields>(union, {}),
  }
  const rest = entries.filter((e) => e !== own && !theirs.includes(e))
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    { op: 'replace', path: '/metadata/managedFields', value: [...rest, merged] },
  ]
}
