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

function record(store: Store, { user, userAgent }: Caller, request: ApiRequest, status: number): void {
  if (store.isLean) return
  const { kind, dryRun = false, verb, subresource, namespace, name } = request
  const of = { group: groupOf(kind), resource: kind.plural, subresource, namespace, name }
  store.audit.push({ user, verb, ...of, dryRun, userAgent, status, at: store.clock.now() })
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

/** What RBAC says, from the Roles, ClusterRoles and bindings that are in the store at this moment. */
export function decide(store: Store, caller: Caller, access: Access): { allowed: boolean; reason: string } {
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
  const listed = (kind: Kind, where: { namespace?: string } = {}): readonly kube.RoleBinding[] =>
    store.kinds.find(kind) ? store.list(kind, where).items : []
  const here = namespace === undefined ? [] : listed(kube.RoleBindings, { namespace })
  return [...listed(kube.ClusterRoleBindings), ...here]
    .filter((binding) => binds(binding, caller))
    .map(({ kind, metadata, roleRef }) => {
      const place = metadata.namespace === undefined ? '' : `/${metadata.namespace}`
      const roles: Kind = roleRef?.kind === 'ClusterRole' ? kube.ClusterRoles : kube.Roles
      const role: kube.Role | undefined = store.read(roles, {
        name: roleRef?.name ?? '',
        namespace: metadata.namespace,
      })
      return {
        rules: role?.rules ?? [],
        reason: `RBAC: allowed by ${kind} "${metadata.name}${place}" of ${roleRef?.kind} "${roleRef?.name}" to User "${caller.user}"`,
      }
    })
}

const binds = (binding: kube.RoleBinding, { user, groups }: Caller): boolean =>
  (binding.subjects ?? []).some(({ kind, name, namespace }) => {
    if (kind === 'User') return name === user
    if (kind === 'Group') return groups.includes(name)
    return user === `system:serviceaccount:${namespace}:${name}`
  })

function grants(rule: kube.PolicyRule, { verb, group, resource, subresource, name = '' }: Access): boolean {
  const { resources = [], resourceNames = [] } = rule
  const isOfResource =
    subresource === undefined
      ? matches(resources, resource)
      : matches(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
  const isOfName = resourceNames.length === 0 || resourceNames.includes(name)
  return isOfResource && isOfName && matches(rule.verbs, verb) && matches(rule.apiGroups, group)
}

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
  const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`
  throw forbiddenTo(
    kind,
    name ?? '',
    `User "${caller.user}" cannot ${verb} resource "${resource}" in API group "${access.group}" ${scope}`,
  )
}
