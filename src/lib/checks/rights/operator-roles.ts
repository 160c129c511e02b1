import { holds, rightsBetween, rightsIn } from '../../cluster/rights-in.ts'
import type { Role } from '../../cluster/kinds/extension.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Question } from '../check.ts'

/** What virt-operator may do now. */
export function operatorMay({ evidence }: Question): ReadonlySet<string> {
  return all(itemsOf(evidence.operatorRoles))
}

/** What the roles of the operator in the manifest allow; roles for people (`kubevirt.io:operator`) are not the operator's. */
export function operatorWould(manifest: readonly KubeObject[]): ReadonlySet<string> {
  return all(operatorsIn(manifest))
}

function operatorsIn(manifest: readonly KubeObject[]): readonly Role[] {
  const account = manifest.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name ?? 'kubevirt-operator'
  return manifest.filter((object): object is Role => isRole(object) && object.metadata.name === account)
}

/** What a manifest does to the rights of virt-operator, right by right. */
interface OperatorChange {
  gained: readonly string[]
  lost: readonly string[]
  /** Held in every namespace now, and in its own alone afterwards. */
  narrowed: readonly string[]
}

/**
 * Counted role by role, as the plan counts. What another of its roles holds as well is not lost: the manifest replaces the roles that it brings; others stay, such as
 * those of the groups that every account is in.
 */
export function operatorChange(manifest: readonly KubeObject[], { evidence }: Question): OperatorChange {
  const brought = operatorsIn(manifest)
  const keys = new Set(manifest.filter(isRole).map(keyOf))
  const now = itemsOf(evidence.operatorRoles)
  const after = [...brought, ...now.filter((role) => !keys.has(keyOf(role)))]
  const everywhere = all(after.filter(({ kind }) => kind === 'ClusterRole'))
  const here = all(after)
  const change = { gained: new Set<string>(), lost: new Set<string>(), narrowed: new Set<string>() }
  for (const role of brought) {
    const live = now.find((one) => keyOf(one) === keyOf(role))
    const { gained, lost } = rightsBetween(role, live)
    for (const right of gained) change.gained.add(right)
    for (const right of lost) {
      if (!holds(here, right)) change.lost.add(right)
      else if (role.kind === 'ClusterRole' && !holds(everywhere, right)) change.narrowed.add(right)
    }
  }
  return { gained: [...change.gained], lost: [...change.lost], narrowed: [...change.narrowed] }
}

const keyOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.name}`

const isRole = ({ kind }: KubeObject) => kind === 'ClusterRole' || kind === 'Role'

const all = (roles: readonly Role[]) => new Set(roles.flatMap((role) => [...rightsIn(role)]))
