import { holds, rightsIn } from '../../cluster/rights-in.ts'
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
  const account = manifest.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name ?? 'kubevirt-operator'
  return all(manifest.filter((object): object is Role => isRole(object) && object.metadata.name === account))
}

/**
 * What virt-operator may do now and no more once that manifest is applied. It replaces the roles that it brings; others stay, such as
 * those of the groups that every account is in.
 */
export function operatorLoses(manifest: readonly KubeObject[], { evidence }: Question): readonly string[] {
  const brought = new Set(manifest.filter(isRole).map(keyOf))
  const now = itemsOf(evidence.operatorRoles)
  const stays = all(now.filter((role) => !brought.has(keyOf(role))))
  const would = operatorWould(manifest)
  const replaced = all(now.filter((role) => brought.has(keyOf(role))))
  return [...replaced].filter((right) => !holds(would, right) && !holds(stays, right))
}

const keyOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.name}`

const isRole = ({ kind }: KubeObject) => kind === 'ClusterRole' || kind === 'Role'

const all = (roles: readonly Role[]) => new Set(roles.flatMap((role) => [...rightsIn(role)]))
