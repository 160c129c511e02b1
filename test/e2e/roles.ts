import { parseAllDocuments } from 'yaml'

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
  resourceNames?: string[]
}

export interface RoleManifest {
  apiVersion: string
  kind: 'Role' | 'ClusterRole'
  metadata: { name: string; namespace?: string }
  rules: Rule[]
}

/** One verb on one resource, as `kubectl auth can-i` names it: `configmaps`, `kubevirts.kubevirt.io`. */
export interface Right {
  verb: string
  resource: string
  namespace?: string
  /** Granted for this object only. */
  name?: string
}

/** The Roles and ClusterRoles of a printed manifest. */
export function roleManifests(yaml: string): RoleManifest[] {
  const documents = parseAllDocuments(yaml).map(
    (document) => document.toJS() as RoleManifest | { items: RoleManifest[] },
  )
  return documents
    .flatMap((document) => ('items' in document ? document.items : [document]))
    .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
}

const namesOf = ({ apiGroups, resources }: Rule): string[] =>
  apiGroups.flatMap((group) =>
    resources.map((resource) => (group === '' ? resource : `${resource}.${group}`)),
  )

function rightsOf({ metadata, rules }: RoleManifest): Right[] {
  const where = metadata.namespace === undefined ? {} : { namespace: metadata.namespace }
  return rules.flatMap((rule) =>
    namesOf(rule).flatMap((resource) =>
      rule.verbs.flatMap((verb) => {
        const right = { verb, resource, ...where }
        return rule.resourceNames?.map((name) => Object.assign({ name }, right)) ?? [right]
      }),
    ),
  )
}

/** Every single right once, however many rules grant it. */
export function rightsIn(roles: readonly RoleManifest[]): Right[] {
  const each = new Map(roles.flatMap(rightsOf).map((right) => [JSON.stringify(right), right]))
  return [...each.values()]
}

/** The same roles without that right; its rule is split, so that everything else in it stays. */
export function without(
  roles: readonly RoleManifest[],
  { verb, resource, namespace }: Right,
): RoleManifest[] {
  const left = (single: Rule) =>
    namesOf(single)[0] === resource ? single.verbs.filter((v) => v !== verb) : single.verbs
  const narrowed = ({ apiGroups, resources, ...rest }: Rule): Rule[] =>
    apiGroups
      .flatMap((group) => resources.map((plural) => ({ apiGroups: [group], resources: [plural], ...rest })))
      .map((single) => Object.assign(single, { verbs: left(single) }))
      .filter(({ verbs }) => verbs.length > 0)
  return roles.map((role) =>
    role.metadata.namespace === namespace ? { ...role, rules: role.rules.flatMap(narrowed) } : role,
  )
}

/** Binds each role to a ServiceAccount in namespace default. */
export function bindingsFor(roles: readonly RoleManifest[], account: string): object[] {
  return roles.map(({ kind, metadata }) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata: { ...metadata, name: `${metadata.name}-${account}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'default' }],
  }))
}
