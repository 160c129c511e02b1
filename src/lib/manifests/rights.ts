import type { KubeObject } from '../cluster/object.ts'
import { rightsIn } from '../cluster/rights-in.ts'

/** Rights that a role gains or loses: `patch virtualmachineinstances.kubevirt.io`. */
export interface RightsChange {
  gained: readonly string[]
  lost: readonly string[]
}

/** Undefined for objects that are no roles, and for roles whose rights stay. */
export function rightsChange(wanted: KubeObject, live: KubeObject | undefined): RightsChange | undefined {
  if (!wanted.kind.endsWith('Role')) return undefined
  const [after, before] = [rightsIn(wanted), rightsIn(live)]
  const gained = [...after].filter((right) => !before.has(right))
  const lost = [...before].filter((right) => !after.has(right))
  return gained.length + lost.length === 0 ? undefined : { gained, lost }
}
