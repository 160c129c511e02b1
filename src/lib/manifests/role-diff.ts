import { Deployments, type Deployment } from '../cluster/kinds/apps.ts'
import type { Role, RoleBinding } from '../cluster/kinds/extension.ts'
import type { KubeObject } from '../cluster/object.ts'
import { holds, rightsIn } from '../cluster/rights-in.ts'
import type { ObjectChange } from './changes.ts'
import { nameOf } from './name-of.ts'

/** What becomes of the rights of one role. */
export interface RoleDiff {
  kind: string
  /** The name of the role. */
  role: string
  namespace?: string
  /** `patch virtualmachineinstances.kubevirt.io` */
  gained: readonly string[]
  lost: readonly string[]
  /** Held in every namespace by this ClusterRole until now; afterwards a Role of the operator holds it in its own namespace. Not among the lost. */
  narrowed?: readonly string[]
  /**
   * Of the lost: what the pods of virt-operator that run now may no longer do as soon as the role is applied, before they are
   * replaced (night C3). A right that another of its roles holds is not among them.
   */
  lostWhileRunning: readonly string[]
}

/** The roles that the running operator has, and what it may do once the manifest is applied: everywhere, and in its own namespace. */
export interface OperatorRights {
  roles: ReadonlySet<string>
  everywhere: ReadonlySet<string>
  here: ReadonlySet<string>
}

/** Empty for objects that are no roles, and for roles whose rights stay. */
export function roleDiff({ wanted, rights }: ObjectChange, operator: OperatorRights): RoleDiff[] {
  if (rights === undefined) return []
  const { kind, metadata } = wanted
  const { name: role, namespace } = metadata
  const still = namespace === undefined ? operator.everywhere : operator.here
  const isOperators = operator.roles.has(nameOf(wanted))
  const missed = isOperators ? rights.lost.filter((right) => !holds(still, right)) : []
  const narrowed = missed.filter((right) => holds(operator.here, right))
  const place = { kind, role, ...(namespace !== undefined && { namespace }) }
  return [
    {
      ...place,
      gained: rights.gained,
      lost: rights.lost.filter((right) => !narrowed.includes(right)),
      ...(narrowed.length > 0 && { narrowed }),
      lostWhileRunning: missed.filter((right) => !narrowed.includes(right)),
    },
  ]
}

/** By the bindings of the account that its pods run under now, whether the manifest still has them or not. */
export function operatorRights(
  changes: readonly ObjectChange[],
  left: readonly KubeObject[],
): OperatorRights {
  const account = accountOf(changes)
  const bindings = [...changes.map(({ live, wanted }) => live ?? wanted), ...left].filter(isBinding)
  const roles = new Set(bindings.filter((binding) => binds(binding, account)).map(boundRole))
  const after = [...changes.map(({ wanted }) => wanted), ...left].filter((one) => roles.has(nameOf(one)))
  const everywhere = rightsOf(after.filter(({ metadata }) => metadata.namespace === undefined))
  return { roles, everywhere, here: rightsOf(after) }
}

function rightsOf(roles: readonly KubeObject[]): Set<string> {
  return new Set(roles.flatMap((role) => [...rightsIn(role as Role)]))
}

interface Account {
  name: string
  namespace: string | undefined
}

function accountOf(changes: readonly ObjectChange[]): Account | undefined {
  const change = changes.find(({ wanted }) => wanted.kind === Deployments.kind)
  if (change === undefined) return undefined
  const { metadata, spec } = (change.live ?? change.wanted) as Deployment
  const name = spec?.template?.spec?.serviceAccountName ?? 'default'
  return { name, namespace: metadata.namespace }
}

const isBinding = ({ kind }: KubeObject): boolean => kind.endsWith('RoleBinding')

function binds(object: KubeObject, account: Account | undefined): boolean {
  const { subjects = [] } = object as RoleBinding
  return subjects.some(
    ({ kind, name, namespace }) =>
      kind === 'ServiceAccount' && name === account?.name && namespace === account.namespace,
  )
}

function boundRole(object: KubeObject): string {
  const { kind = '', name = '' } = (object as RoleBinding).roleRef ?? {}
  return `${kind} ${name}`
}
