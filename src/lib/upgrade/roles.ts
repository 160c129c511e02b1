import { ClusterRoles, type PolicyRule, type Role, Roles } from '../cluster/kinds/extension.ts'
import { type Right, type RoleName, rightsOf } from './rights.ts'

/** The ClusterRole and the Role in KubeVirt's namespace that make up one of kvup's roles. */
export function rolesFor(name: RoleName, namespace: string): [cluster: Role, inNamespace: Role] {
  const rights = rightsOf(name)
  const labels = { 'app.kubernetes.io/managed-by': 'kvup' }
  return [
    {
      apiVersion: ClusterRoles.apiVersion,
      kind: ClusterRoles.kind,
      metadata: { name, labels },
      rules: rulesOf(rights, 'cluster', namespace),
    },
    {
      apiVersion: Roles.apiVersion,
      kind: Roles.kind,
      metadata: { name, namespace, labels },
      rules: rulesOf(rights, 'kubevirt', namespace),
    },
  ]
}

/** What each rule of the two is for, in their order. */
export function reasonsFor(name: RoleName): [cluster: string[], inNamespace: string[]] {
  const reasons = (scope: Right['scope']) =>
    rightsOf(name).flatMap((right) => (right.scope === scope ? [reasonOf(right)] : []))
  return [reasons('cluster'), reasons('kubevirt')]
}

const reasonOf = ({ why, optional }: Right) => (optional ? `optional: ${why}` : why)

/** What it takes to use the roles, as commands; NAME is to be replaced. */
export function bindingCommands(name: RoleName, namespace: string): string[] {
  return [
    `kubectl create clusterrolebinding ${name} --clusterrole=${name} --user=NAME`,
    `kubectl -n ${namespace} create rolebinding ${name} --role=${name} --user=NAME`,
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
export function namesIn(names: readonly string[], namespace: string): string[] {
  return names.map((name) => (name === '$namespace' ? namespace : name))
}
