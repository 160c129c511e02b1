import { Argument, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import type { Role } from '../lib/kube/kinds/extension-kinds.ts'
import { roleYaml } from '../lib/manifests/manifest-diff.ts'
import type { Document, View } from '../lib/output/printer.ts'
import { usageError } from '../lib/kube/errors.ts'
import { type RoleName, roleNames } from '../lib/upgrade/role-rights.ts'
import { bindingCommands, reasonsFor, rolesFor } from '../lib/upgrade/roles.ts'
import { KvupCommand } from './command-options.ts'

export interface RbacOptions {
  namespaceOfKubevirt: string
  namespaceOfCatalog?: string
}

export interface RbacDocument extends Document {
  kind: 'RoleManifests'
  role: RoleName
  items: readonly Role[]
  /** Commands; NAME is to be replaced. */
  bind: readonly string[]
}

export function rbacCommand(wire: Wire): KvupCommand {
  return new KvupCommand('rbac')
    .addArgument(new Argument('<role>', 'which role').choices([...roleNames]))
    .addOption(
      new Option('--namespace-of-kubevirt <namespace>', 'where KubeVirt is installed').default('kubevirt'),
    )
    .addOption(
      new Option(
        '--namespace-of-catalog <namespace>',
        'where OLM has the catalog of HyperConverged: openshift-marketplace, or olm',
      ),
    )
    .manual({
      examples: [
        ['kvup rbac kvup-view', 'let a user look'],
        ['kvup rbac kvup-upgrade | kubectl apply -f -', 'let a user upgrade by imageTag'],
        ['kvup rbac kvup-olm --namespace-of-catalog openshift-marketplace', 'let a user upgrade by OLM'],
        ['kvup rbac kvup-operator-manifest -o json', 'let a user replace the operator'],
      ],
    })
    .action(wire<RbacOptions, [RoleName]>(rbac))
}

/** Asks no cluster: the roles are made from what kvup is going to ask for. */
export async function rbac({ printer }: Context, options: RbacOptions, role: RoleName): Promise<void> {
  const namespace = namespaceName(options.namespaceOfKubevirt)
  const { namespaceOfCatalog } = options
  const catalog = namespaceOfCatalog === undefined ? undefined : namespaceName(namespaceOfCatalog)
  printer.result(
    {
      apiVersion: 'kvup.io/v1alpha1',
      kind: 'RoleManifests',
      role,
      items: rolesFor(role, namespace, catalog),
      bind: bindingCommands(role, namespace, catalog),
    },
    roleView,
  )
}

/** It ends up in commands that are pasted into a shell. */
function namespaceName(typed: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(typed)) return typed
  throw usageError('not-a-namespace', `${JSON.stringify(typed)} cannot be the name of a namespace`)
}

const anyImage = [
  '# It may patch the KubeVirt, and with it imageRegistry: whoever has this role can in effect run any',
  '# image as root on every node. Bind it to people who may do that.',
]

const escalation = [
  '# It may escalate and bind: the roles of the operator have more rights than kvup itself. Whoever',
  '# has this role can in effect give itself every right of virt-operator: bind it for the upgrade only.',
]

/** In front of the roles that are more than they look. */
const warnings: Partial<Record<RoleName, readonly string[]>> = {
  'kvup-settings': anyImage,
  'kvup-upgrade': anyImage,
  'kvup-operator-manifest': escalation,
}

export const roleView: View<RbacDocument> = {
  text: ({ role, items, bind }) => [
    `# ${role}: kvup rbac ${role} | kubectl apply -f -`,
    ...(warnings[role] ?? []),
    items.length > 2
      ? '# Then bind all parts to whoever runs kvup:'
      : '# Then bind both parts to whoever runs kvup:',
    ...bind.map((command) => `#   ${command}`),
    ...items.flatMap((item, index) => ['---', ...linesOf(item, reasonsFor(role)[index])]),
  ],
  names: ({ items }) =>
    items.map(({ kind, metadata }) => `${kind.toLowerCase()}.rbac.authorization.k8s.io/${metadata.name}`),
}

const linesOf = (role: Role, reasons: readonly string[] = []) => roleYaml(role, reasons).trimEnd().split('\n')
