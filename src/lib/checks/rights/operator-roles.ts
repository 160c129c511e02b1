import { rightsIn } from '../../cluster/rights-in.ts'
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

const isRole = ({ kind }: KubeObject) => kind === 'ClusterRole' || kind === 'Role'

const all = (roles: readonly Role[]) => new Set(roles.flatMap((role) => [...rightsIn(role)]))
