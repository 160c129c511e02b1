import * as kube from '../kinds.ts'
import { groupOf, type Kind } from '../../lib/kube/object.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import type { Store } from './store.ts'
import type { Access } from '../../lib/kube/cluster.ts'
import { forbiddenTo } from './api-refusal.ts'

export interface Caller {
  readonly user: string
  readonly groups: readonly string[]
  readonly userAgent: string
}

/** May everything, as the certificate in an admin's kubeconfig. */
export const admin: Caller = {
  user: 'kubernetes-admin',
  groups: ['system:masters', 'system:authenticated'],
  userAgent: 'in-process',
}

export interface ApiRequest {
  readonly verb: string
  readonly kind: Pick<Kind, 'apiVersion' | 'plural'>
  readonly subresource?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly dryRun?: boolean | undefined
}

/** Every request goes this way, over HTTP or not: authorized, done, and recorded in the audit log with its status. */
export function perform<T>(store: Store, caller: Caller, request: ApiRequest, work: () => T): T {
  try {
    refuseForbidden(store, caller, request)
    const answer = work()
    record(store, caller, request, 200)
    return answer
  } catch (error) {
    record(store, caller, request, error instanceof ApiError ? error.status : 500)
    throw error
  }
}

/** What a path of an API server behind this one is to RBAC and audit: `/apis/subresources.kubevirt.io/v1/version`. */
export function requestOfPath(path: string): ApiRequest {
  const [, , group = '', version = '', plural = ''] = path.split('/')
  return { verb: 'get', kind: { apiVersion: `${group}/${version}`, plural } }
}

/** The answer of an API server behind this one; undefined for a path that none of them serves. Who is logged in may ask. */
export function askAggregated(store: Store, caller: Caller, path: string): object | undefined {
  const answer = store.aggregated.get(path)
  const asked = { ...caller, groups: [...caller.groups, 'system:masters'] }
  return answer && perform(store, asked, requestOfPath(path), answer)
}

function record(store: Store, caller: Caller, request: ApiRequest, status: number): void {
  if (store.isLean) return
  const { verb, kind, subresource, namespace, name, dryRun = false } = request
  store.audit.push({
    user: caller.user,
    verb,
    group: groupOf(kind),
    resource: kind.plural,
    subresource,
    namespace,
    name,
    dryRun,
    userAgent: caller.userAgent,
    status,
    at: store.clock.now(),
  })
}

/** One request as the audit log has it. Watches are recorded when they begin. */
export interface AuditRecord {
  readonly user: string
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly dryRun: boolean
  readonly userAgent: string
  /** HTTP status of the answer. */
  readonly status: number
  readonly at: Date
}

const reading = new Set(['get', 'list', 'watch'])

/** Whether the request was meant to change something and was not refused: reviews and dry runs are no writes. */
export const isWrite = ({ verb, dryRun, group, status }: AuditRecord): boolean =>
  !reading.has(verb) && !dryRun && status < 400 && !/^(authorization|authentication)\.k8s\.io$/.test(group)

interface Decision {
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
  readonly rules: readonly kube.PolicyRule[]
  readonly reason: string
}

/** Every rule that a caller has cluster-wide and, with a namespace, in it. */
export function rulesFor(store: Store, caller: Caller, namespace: string | undefined): Granted[] {
  const everywhere = bindings(store, kube.ClusterRoleBindings, {}).filter((b) => binds(b, caller))
  const here =
    namespace === undefined
      ? []
      : bindings(store, kube.RoleBindings, { namespace }).filter((b) => binds(b, caller))
  return [...everywhere, ...here].map((binding) => ({
    rules: rulesOf(store, binding),
    reason: `RBAC: allowed by ${binding.kind} "${binding.metadata.name}${binding.metadata.namespace === undefined ? '' : `/${binding.metadata.namespace}`}" of ${binding.roleRef?.kind} "${binding.roleRef?.name}" to User "${caller.user}"`,
  }))
}

function bindings(
  store: Store,
  kind: typeof kube.RoleBindings,
  where: { namespace?: string },
): kube.RoleBinding[] {
  return store.kinds.find(kind) ? [...store.list(kind, where).items] : []
}

const binds = (binding: kube.RoleBinding, { user, groups }: Caller): boolean =>
  (binding.subjects ?? []).some((subject) => {
    if (subject.kind === 'User') return subject.name === user
    if (subject.kind === 'Group') return groups.includes(subject.name)
    return user === `system:serviceaccount:${subject.namespace}:${subject.name}`
  })

function rulesOf(store: Store, { roleRef, metadata }: kube.RoleBinding): readonly kube.PolicyRule[] {
  const name = roleRef?.name ?? ''
  const role: kube.Role | undefined =
    roleRef?.kind === 'ClusterRole'
      ? store.read(kube.ClusterRoles, { name })
      : store.read(kube.Roles, { name, namespace: metadata.namespace })
  return role?.rules ?? []
}

const grants = (rule: kube.PolicyRule, access: Access): boolean =>
  matches(rule.verbs, access.verb) &&
  matches(rule.apiGroups, access.group) &&
  grantsResource(rule, access) &&
  grantsName(rule, access.name)

function grantsResource({ resources = [] }: kube.PolicyRule, { resource, subresource }: Access): boolean {
  if (subresource === undefined) return matches(resources, resource)
  return matches(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

const grantsName = ({ resourceNames = [] }: kube.PolicyRule, name = ''): boolean =>
  resourceNames.length === 0 || resourceNames.includes(name)

const matches = (allowed: readonly string[] = [], wanted: string): boolean =>
  allowed.includes('*') || allowed.includes(wanted)

/** Reviews of oneself are open to everybody who is authenticated. */
const open = new Set(['selfsubjectaccessreviews', 'selfsubjectreviews', 'selfsubjectrulesreviews'])

/** Throws 403 in the API server's words. */
function refuseForbidden(store: Store, caller: Caller, request: ApiRequest): void {
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
