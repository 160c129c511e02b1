import type { KubeObject } from '../cluster/object.ts'
import { type RightsChange, rightsBetween } from '../cluster/rights-in.ts'

/** Undefined for objects that are no roles, and for roles whose rights stay. */
export function rightsChange(wanted: KubeObject, live: KubeObject | undefined): RightsChange | undefined {
  if (!wanted.kind.endsWith('Role')) return undefined
  const change = rightsBetween(wanted, live)
  return change.gained.length + change.lost.length === 0 ? undefined : change
}
