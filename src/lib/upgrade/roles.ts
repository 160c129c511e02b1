import { ClusterRoles, type PolicyRule, type Role, Roles } from '../kube/kinds/extension-kinds.ts'
import { type Right, rightsOf, type RoleName } from './role-rights.ts'
import type { Access } from '../kube/cluster.ts'
import type { Method } from '../releases/hop-findings.ts'
import { InstanceReplicaSets } from '../kube/kinds/kubevirt-kinds.ts'
import type { UpgradePath } from './path-procedure.ts'
import { censusNames } from '../vms/census/saved-census.ts'
import type { UpgradePlan } from './upgrade-plan.ts'
import { groupOf, type Kind } from '../kube/object.ts'

/**
 * The ClusterRole and the Role in KubeVirt's namespace that make up one of kvup's roles, and a Role in the namespace of OLM's catalog where that is said: without OLM there is no such
 * namespace, and its name is nobody's rule.
 */
export function rolesFor(
  name: RoleName,
  namespace: string,
  catalog?: string,
  rights: readonly Right[] = rightsOf(name),
): [cluster: Role, inNamespace: Role, ...inCatalog: Role[]] {
  const labels = { 'app.kubernetes.io/managed-by': 'kvup' }
  const inNamespace = (
    scope: 'kubevirt' | 'catalog',
    metadata: { name: string; namespace: string },
  ): Role => ({
    apiVersion: Roles.apiVersion,
    kind: Roles.kind,
    metadata: { ...metadata, labels },
    rules: rulesOf(rights, scope, namespace),
  })
  // In one namespace one of the two would take the place of the other.
  const ofCatalog = catalog === namespace ? `${name}-catalog` : name
  return [
    {
      apiVersion: ClusterRoles.apiVersion,
      kind: ClusterRoles.kind,
      metadata: { name, labels },
      rules: rulesOf(rights, 'cluster', namespace),
    },
    inNamespace('kubevirt', { name, namespace }),
    ...(catalog === undefined ? [] : [inNamespace('catalog', { name: ofCatalog, namespace: catalog })]),
  ]
}

/** What each rule of them is for, in their order. `rights`: only these. */
export function reasonsFor(
  name: RoleName,
  rights: readonly Right[] = rightsOf(name),
): [cluster: string[], inNamespace: string[], inCatalog: string[]] {
  const reasons = (scope: Right['scope']) =>
    rights.flatMap((right) => (right.scope === scope ? [reasonOf(right)] : []))
  return [reasons('cluster'), reasons('kubevirt'), reasons('catalog')]
}

const reasonOf = ({ why, optional }: Right) => (optional ? `optional: ${why}` : why)

/** What it takes to use the roles, as commands; NAME is to be replaced. */
export function bindingCommands(name: RoleName, namespace: string, catalog?: string): string[] {
  const [, ...local] = rolesFor(name, namespace, catalog)
  return [
    `kubectl create clusterrolebinding ${name} --clusterrole=${name} --user=NAME`,
    ...local.map(
      ({ metadata }) =>
        `kubectl -n ${metadata.namespace} create rolebinding ${metadata.name} --role=${metadata.name} --user=NAME`,
    ),
  ]
}

function rulesOf(rights: readonly Right[], scope: Right['scope'], namespace: string): PolicyRule[] {
  return rights.filter((right) => right.scope === scope).map((right) => ruleOf(right, namespace))
}

function ruleOf({ group, resources, verbs, names }: Right, namespace: string): PolicyRule {
  const rule = { apiGroups: [group], resources: [...resources], verbs: [...verbs] }
  return names.length === 0 ? rule : { ...rule, resourceNames: namesIn(names, namespace) }
}

/** `$namespace` is known only when the role is printed or asked for. */
function namesIn(names: readonly string[], namespace: string): string[] {
  return names.map((name) => (name === '$namespace' ? namespace : name))
}

/** One question for the preflight. */
export interface NeededAccess {
  access: Access
  why: string
  /** A refusal is a warning, not the end. */
  optional: boolean
}

const roleOfMethod: Readonly<Record<Method, RoleName>> = {
  'image-tag': 'kvup-upgrade',
  'operator-manifest': 'kvup-operator-manifest',
  olm: 'kvup-olm',
}

/** The role that a method needs. */
export const roleFor = (method: Method): RoleName => roleOfMethod[method]

/** Every right of the method's role that an upgrade uses, one question per verb, resource and object name. */
export function requiredAccess(method: Method, namespace: string): NeededAccess[] {
  const used = rightsOf(roleFor(method)).filter(({ onlyChecks }) => !onlyChecks)
  return used.filter(isAskedFor).flatMap((right) => questions(right, namespace))
}

/** What `kvup check` asks about; that of its probes is asked for by whoever makes them. */
export function accessOf(role: RoleName, namespace: string): NeededAccess[] {
  return rightsOf(role)
    .filter(isAskedFor)
    .flatMap((right) => questions(right, namespace))
}

/** Which namespace the catalog has is not known beforehand; what could not be read there is said where it is missed. */
const isAskedFor = ({ scope, onlyProbes, onlyStatus }: Right): boolean =>
  scope !== 'catalog' && !onlyProbes && !onlyStatus

/** What is granted to look at what is above KubeVirt: no preflight asks for it, for most clusters have none of it. */
export function statusAccess(namespace: string): NeededAccess[] {
  return rightsOf('kvup-view')
    .filter(({ scope, onlyStatus }) => scope !== 'catalog' && onlyStatus)
    .flatMap((right) => questions(right, namespace))
}

/** What `kvup check --probe-images` writes; all of it is needed then. */
export function probeAccess(namespace: string): NeededAccess[] {
  return rightsOf('kvup-upgrade')
    .filter(({ onlyProbes }) => onlyProbes)
    .flatMap((right) => questions(right, namespace))
}

function questions({ scope, group, resources, verbs, names, why, optional }: Right, namespace: string) {
  const where = scope === 'kubevirt' ? { namespace } : {}
  const objects = names.length > 0 ? namesIn(names, namespace).map((name) => ({ name })) : [{}]
  return resources.flatMap((path) => {
    const [resource = path, subresource] = path.split('/')
    const below = subresource === undefined ? {} : { subresource }
    return verbs.flatMap((verb) =>
      objects.map((only) => ({
        access: { verb, group, resource, ...below, ...where, ...only },
        why,
        optional,
      })),
    )
  })
}

/** What this plan needs: cancelling migrations only where that was requested, and nothing on what somebody else owns. */
export function accessFor(
  { method, owner, request }: UpgradePlan,
  path?: UpgradePath,
): {
  required: Access[]
  optional: Access[]
} {
  const all = requiredAccess(request.follow ? 'image-tag' : method, owner.ref.namespace)
  const needed = all.filter(({ access }) => !request.follow || !isOwned(access))
  const cancels = ({ access }: { access: Access }) =>
    request.migrations === 'cancel' &&
    access.resource === 'virtualmachineinstancemigrations' &&
    access.verb === 'delete'
  const required = needed.filter((need) => !need.optional || cancels(need))
  const optional = needed.filter(
    (need) =>
      need.optional &&
      !cancels(need) &&
      need.access.verb !== 'delete' &&
      !isOfCensus(need.access) &&
      (request.waitWorkloads || isWaitedFor(path) || !isLaunchers(need.access)),
  )
  return { required: required.map(({ access }) => access), optional: optional.map(({ access }) => access) }
}

/** VMs are waited for between the steps of an upgrade path. */
const isWaitedFor = (path: UpgradePath | undefined): boolean =>
  path !== undefined && path.steps.length > 1 && path.between === 'wait'

/** Whoever takes the census asks, and says what comes of a no. */
const isOfCensus = ({ resource, name = '' }: Access) =>
  resource === 'configmaps' ? censusNames.includes(name) : resource === InstanceReplicaSets.plural

/** Where VMs are not waited for, nobody looks whether one runs twice (night W5). */
const isLaunchers = ({ resource, verb, namespace }: Access) =>
  resource === 'pods' && verb === 'list' && namespace === undefined

const isOwned = ({ resource, verb }: Access) => resource === 'kubevirts' && verb === 'patch'

/** A verb on a kind that a command of `kvup workloads` uses besides the journal and the lock. */
export interface Used {
  kind: Pick<Kind, 'apiVersion' | 'plural'>
  verb: string
  subresource?: string
}

/** What such a command needs before its first write: the rows of its role that nobody can do without, and those that it uses. The role is the lesser one that has them. */
export function workloadsAccess(
  namespace: string,
  uses: readonly Used[],
): { required: Access[]; optional: Access[]; role: 'kvup-workloads' | 'kvup-settings' } {
  const role = uses.some(isSetting) ? 'kvup-settings' : 'kvup-workloads'
  const needed = accessOf(role, namespace).filter(
    ({ access, optional }) => !optional || uses.some((used) => isFor(access, used)),
  )
  return { required: needed.map(({ access }) => access), optional: [], role }
}

/** Who writes how VMs follow could write anything else of that object. */
const isSetting = ({ kind, verb }: Used): boolean =>
  verb === 'patch' && (kind.plural === 'kubevirts' || kind.plural === 'hyperconvergeds')

function isFor({ verb, group, resource, subresource }: Access, used: Used): boolean {
  const { kind } = used
  const same = group === groupOf(kind) && resource === kind.plural && subresource === used.subresource
  return same && verb === used.verb
}
