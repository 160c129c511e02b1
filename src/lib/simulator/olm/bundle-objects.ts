import { ClusterRoleBindings, ClusterRoles, ServiceAccounts } from '../../cluster/kinds/extension.ts'
import type { CustomResourceDefinition, PolicyRule, Role } from '../../cluster/kinds/extension.ts'
import type { ClusterServiceVersion } from '../../cluster/kinds/operator-lifecycle.ts'
import { ClusterServiceVersions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { hyperConvergedDefinition } from '../hyperconverged/objects.ts'
import { templateHash } from '../machinery/luck.ts'
import { kubeVirtDefinition } from '../virt-operator/custom-resources.ts'
import { operatorManifest } from '../virt-operator/operator-manifest.ts'
import { hyperConvergedDeployments, otherDeployments } from './bundle-deployments.ts'
import type { BundleShape, EntryShape, OlmShape } from './shape.ts'

/** The release of an operator that is to be installed in a namespace in the place of another. */
export interface Release {
  package: string
  entry: EntryShape
  namespace: string
  /** The CSV that it replaces; OLM writes it into the new one, whatever the edge was. */
  replaces?: string | undefined
}

/** The CSV and what else a plan applies, in the order of its steps. Permissions are named after the CSV and so are new with each release. */
export function bundleObjects(release: Release, shape: OlmShape): KubeObject[] {
  const { entry } = release
  if (!isBundle(entry)) {
    const deployments = otherDeployments(release.package, entry)
    return [serviceVersion(release, { displayName: release.package, deployments, owned: [] })]
  }
  const { kubevirt, crd } = entry
  const definitions = [hyperConvergedDefinition({ ...crd, conversion: 'None' }), kubeVirtDefinition]
  const deployments = hyperConvergedDeployments(entry, shape)
  const owned = definitions.map(ownedDefinition)
  return [
    serviceVersion(release, { displayName: 'KubeVirt HyperConverged Cluster Operator', deployments, owned }),
    ...definitions,
    ...operatorManifest(kubevirt).filter(({ kind }) => kind === 'PriorityClass'),
    ...permissions(release, 'kubevirt-operator', kubeVirtRules(kubevirt)),
    ...permissions(release, 'hyperconverged-cluster-operator', hyperConvergedRules),
  ]
}

export function isBundle(entry: EntryShape): entry is BundleShape {
  return 'kubevirt' in entry
}

interface Described {
  displayName: string
  deployments: readonly { name: string; label: Record<string, string>; spec: { template?: object } }[]
  /** Its CustomResourceDefinitions. */
  owned: readonly OwnedDefinition[]
}

interface OwnedDefinition {
  name: string
  kind: string
  version: string
}

/** The API server wants all three. */
function ownedDefinition({ metadata: { name }, spec = {} }: CustomResourceDefinition): OwnedDefinition {
  const stored = spec.versions?.find(({ storage }) => storage === true)
  return { name, kind: spec.names?.kind ?? '', version: stored?.name ?? '' }
}

function serviceVersion(
  { package: name, entry, namespace, replaces }: Release,
  { displayName, deployments, owned }: Described,
): ClusterServiceVersion {
  const limit = entry.maxOpenShiftVersion
  const properties = limit === undefined ? [] : [{ type: 'olm.maxOpenShiftVersion', value: limit }]
  return {
    apiVersion: ClusterServiceVersions.apiVersion,
    kind: ClusterServiceVersions.kind,
    metadata: {
      name: entry.name,
      namespace,
      labels: { [`operators.coreos.com/${name}.${namespace}`]: '' },
      annotations: {
        ...(properties.length > 0 && { 'olm.properties': JSON.stringify(properties) }),
        ...(entry.skipRange !== undefined && { 'olm.skipRange': entry.skipRange }),
      },
    },
    spec: {
      displayName,
      version: entry.version,
      ...(replaces !== undefined && { replaces }),
      ...(entry.skips && { skips: [...entry.skips] }),
      install: { strategy: 'deployment', spec: { deployments: [...deployments] } },
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: type === 'AllNamespaces',
      })),
      customresourcedefinitions: { owned: [...owned] },
    },
  }
}

/** As OLM marks what belongs to a CSV. */
export function ownedLabels({ metadata }: Pick<KubeObject, 'metadata'>): Record<string, string> {
  return {
    'olm.owner': metadata.name,
    'olm.owner.kind': ClusterServiceVersions.kind,
    'olm.owner.namespace': metadata.namespace ?? '',
  }
}

function permissions({ entry, namespace }: Release, account: string, rules: PolicyRule[]): KubeObject[] {
  const name = `${entry.name}-${templateHash({ account, version: entry.version })}`
  const labels = ownedLabels({ metadata: { name: entry.name, namespace } })
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const { apiVersion } = ClusterRoles
  const role: Role = { apiVersion, kind: ClusterRoles.kind, metadata: { name, labels }, rules }
  const binding = {
    apiVersion,
    kind: ClusterRoleBindings.kind,
    metadata: { name, labels },
    roleRef,
    subjects,
  }
  const { apiVersion: core, kind } = ServiceAccounts
  return [{ apiVersion: core, kind, metadata: { name: account, namespace } }, role, binding]
}

/** Those of the release's own manifest, its Role for its namespace included. */
function kubeVirtRules(version: string): PolicyRule[] {
  const roles = operatorManifest(version).filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
  return roles.flatMap((role) => (role as Role).rules ?? [])
}

const every = ['*']
const hyperConvergedRules: PolicyRule[] = [
  {
    apiGroups: ['hco.kubevirt.io', 'kubevirt.io', 'cdi.kubevirt.io', 'ssp.kubevirt.io'],
    resources: every,
    verbs: every,
  },
  { apiGroups: ['networkaddonsoperator.network.kubevirt.io'], resources: every, verbs: every },
  {
    apiGroups: ['operators.coreos.com'],
    resources: ['clusterserviceversions', 'operatorconditions'],
    verbs: ['get', 'list', 'watch', 'update', 'patch'],
  },
]
