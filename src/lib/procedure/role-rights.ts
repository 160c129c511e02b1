import type { Role } from '../cluster/kinds/extension.ts'
import type { FieldChange } from '../cluster/leaves.ts'
import type { KubeObject } from '../cluster/object.ts'
import { rightsIn } from '../cluster/rights-in.ts'

/** One change per right, `rules[patch pods]`: by their place a rule that is new in between would change all behind it. */
export function roleRights(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): readonly FieldChange[] {
  const [was, is] = [rightsOf(before), rightsOf(after)]
  return [
    ...[...was].filter((right) => !is.has(right)).map((right) => ({ path: `rules[${right}]`, from: true })),
    ...[...is].filter((right) => !was.has(right)).map((right) => ({ path: `rules[${right}]`, to: true })),
  ]
}

/** The object without its rules, if it is a role. */
export function withoutRules<T extends KubeObject>(object: T): T {
  if (!isRole(object)) return object
  const { rules: _, ...rest } = object
  return rest as T
}

function rightsOf(object: KubeObject | undefined): ReadonlySet<string> {
  return object !== undefined && isRole(object) ? rightsIn(object) : new Set()
}

function isRole(object: KubeObject): object is Role {
  return object.kind === 'Role' || object.kind === 'ClusterRole'
}
