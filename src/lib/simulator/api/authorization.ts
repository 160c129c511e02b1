import { groupOf } from '../../cluster/kind.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  type PolicyRule,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
} from '../../cluster/kinds/extension.ts'
import type { Access } from '../../cluster/cluster.ts'
import { forbiddenTo } from './refusal.ts'
import type { ApiRequest, Caller } from './request.ts'
import type { Store } from './store.ts'

export interface Decision {
  readonly allowed: boolean
  readonly reason: string
}

/** What RBAC says, from the Roles, ClusterRoles and bindings that are in the store at this moment. */
export function decide(store: Store, caller: Caller, access: Access): Decision {
  if (mayEverything(caller)) return { allowed: true, reason: '' }
  for (const { rules, reason } of rulesFor(store, caller, access.namespace))
    if (rules.some((rule) => grants(rule, access))) return { allowed: true, reason }
  return { allowed: false, reason: '' }
}

const mayEverything = ({ groups }: Caller): boolean => groups.includes('system:masters')

interface Granted {
  readonly rules: readonly PolicyRule[]
  readonly reason: string
}

/** Every rule that a caller has cluster-wide and, with a namespace, in it. */
export function rulesFor(store: Store, caller: Caller, namespace: string | undefined): Granted[] {
  const everywhere = bindings(store, ClusterRoleBindings, {}).filter((b) => binds(b, caller))
  const here =
    namespace === undefined
      ? []
      : bindings(store, RoleBindings, { namespace }).filter((b) => binds(b, caller))
  return [...everywhere, ...here].map((binding) => ({
    rules: rulesOf(store, binding),
    reason: `RBAC: allowed by ${binding.kind} "${binding.metadata.name}${binding.metadata.namespace === undefined ? '' : `/${binding.metadata.namespace}`}" of ${binding.roleRef?.kind} "${binding.roleRef?.name}" to User "${caller.user}"`,
  }))
}

function bindings(store: Store, kind: typeof RoleBindings, where: { namespace?: string }): RoleBinding[] {
  return store.kinds.find(kind) ? [...store.list(kind, where).items] : []
}

function binds(binding: RoleBinding, { user, groups }: Caller): boolean {
  return (binding.subjects ?? []).some((subject) => {
    if (subject.kind === 'User') return subject.name === user
    if (subject.kind === 'Group') return groups.includes(subject.name)
    return user === `system:serviceaccount:${subject.namespace}:${subject.name}`
  })
}

function rulesOf(store: Store, { roleRef, metadata }: RoleBinding): readonly PolicyRule[] {
  const name = roleRef?.name ?? ''
  const role: Role | undefined =
    roleRef?.kind === 'ClusterRole'
      ? store.read(ClusterRoles, { name })
      : store.read(Roles, { name, namespace: metadata.namespace })
  return role?.rules ?? []
}

function grants(rule: PolicyRule, access: Access): boolean {
  return (
    matches(rule.verbs, access.verb) &&
    matches(rule.apiGroups, access.group) &&
    grantsResource(rule, access) &&
    grantsName(rule, access.name)
  )
}

function grantsResource({ resources = [] }: PolicyRule, { resource, subresource }: Access): boolean {
  if (subresource === undefined) return matches(resources, resource)
  return matches(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

function grantsName({ resourceNames = [] }: PolicyRule, name = ''): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name)
}

function matches(allowed: readonly string[] = [], wanted: string): boolean {
  return allowed.includes('*') || allowed.includes(wanted)
}

/** Reviews of oneself are open to everybody who is authenticated. */
const open = new Set(['selfsubjectaccessreviews', 'selfsubjectreviews', 'selfsubjectrulesreviews'])

/** Throws 403 in the API server's words. */
export function refuseForbidden(store: Store, caller: Caller, request: ApiRequest): void {
  const { kind, verb, subresource, namespace, name } = request
  if (open.has(kind.plural) || mayEverything(caller)) return
  const access: Access = {
    verb,
    group: groupOf(kind),
    resource: kind.plural,
    ...(subresource !== undefined && { subresource }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  }
  if (decide(store, caller, access).allowed) return
  throw forbiddenTo(kind, name ?? '', refusalText(caller.user, access))
}

function refusalText(user: string, access: Access): string {
  const resource =
    access.subresource === undefined ? access.resource : `${access.resource}/${access.subresource}`
  const scope =
    access.namespace === undefined ? 'at the cluster scope' : `in the namespace "${access.namespace}"`
  return `User "${user}" cannot ${access.verb} resource "${resource}" in API group "${access.group}" ${scope}`
}
