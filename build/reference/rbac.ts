import {
  lesserRoles,
  type Right,
  rightsOf,
  type RoleName,
  roleNames,
} from '../../src/lib/upgrade/role-rights.ts'

const about: Record<RoleName, string> = {
  'kvup-view':
    'For `kvup status`, `kvup history` and `kvup version`, and what a dry run reads. It writes nothing.',
  'kvup-workloads':
    'All of `kvup-view`, and what the changing commands of `kvup workloads` write. Each of them asks for what it uses, and does without the rest. What sets how VMs follow is in `kvup-settings`.',
  'kvup-settings':
    'All of `kvup-workloads`, and what `kvup workloads pause-updates`, `restore` and `strategy set`, `kvup workloads live-update set`, and a `kvup workloads update` that holds updates for its time write: the KubeVirt, or the HyperConverged that owns it. A right to patch cannot be limited to a field: whoever has this role can name another imageRegistry, and so in effect run any image as root on every node. `kvup-upgrade` and the roles above it can do the same.',
  'kvup-upgrade':
    'All of `kvup-view`, and what `kvup upgrade --method image-tag` and `kvup restore-settings` write.',
  'kvup-olm':
    'To upgrade where HyperConverged owns KubeVirt: approves one InstallPlan, and writes HyperConverged. KubeVirt itself and the objects of the operator are left to OLM.',
  'kvup-eus':
    'All of `kvup-olm`, and what `kvup eus run`, `abort` and `restore` write: the ClusterVersion, machine config pools, and the health checks that would replace their nodes.',
  'kvup-operator-manifest':
    'All of `kvup-upgrade`, and what `kvup upgrade --method operator-manifest` writes. It may escalate and bind, because the roles of the operator hold more rights than kvup itself: whoever has this role can in effect give itself every right of virt-operator. Bind it for the upgrade only.',
}

/** docs/rbac.md: every right of every role and what it is for. */
export function rbacPage(): string {
  return [
    '# Rights',
    '`kvup rbac ROLE` prints a role as YAML, ready for `kubectl apply -f -`, with the lines that bind it. Each says whose rights it holds as well. Before the first write kvup asks the API server for every required verb of the method (SelfSubjectAccessReview); one that is missing is exit 7 and nothing is changed. Without an optional one it warns and goes on.',
    'Scope `kubevirt` is the namespace of KubeVirt (`--namespace-of-kubevirt`, default `kubevirt`). Scope `catalog` is the namespace in which OLM has the catalog of HyperConverged, `openshift-marketplace` or `olm`: that part is printed only with `--namespace-of-catalog`. Without it what a bundle holds is "not checked".',
    ...roleNames.flatMap((name) => {
      const lesser = lesserRoles[name].at(-2)
      const inherited = lesser === undefined ? 0 : rightsOf(lesser).length
      return [`## ${name}`, about[name], rows(rightsOf(name).slice(inherited))]
    }),
    '<!-- made by npm run reference from src/lib/upgrade/role-rights.ts -->',
  ]
    .join('\n\n')
    .concat('\n')
}

function rows(rights: readonly Right[]): string {
  return [
    '| scope | group | resources | verbs | only | what for |',
    '|---|---|---|---|---|---|',
    ...rights.map(row),
  ].join('\n')
}

function row({ scope, group, resources, verbs, names, why, optional }: Right): string {
  const only = names.map((name) => (name === '$namespace' ? "KubeVirt's namespace" : `\`${name}\``))
  return `| ${[scope, group || 'core', resources.join(', '), verbs.join(', '), only.join(', '), optional ? `${why} (optional)` : why].join(' | ')} |`
}
