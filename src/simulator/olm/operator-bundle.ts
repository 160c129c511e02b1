import {
  ClusterRoleBindings,
  ClusterRoles,
  type CustomResourceDefinition,
  type PolicyRule,
  type Role,
  ServiceAccounts,
} from '../../lib/kube/kinds/extension-kinds.ts'
import { type ClusterServiceVersion, ClusterServiceVersions } from '../../lib/kube/kinds/operator-kinds.ts'
import type { KubeObject } from '../../lib/kube/object.ts'
import { hyperConvergedDefinition } from '../hyperconverged/hyperconverged-crd.ts'
import { templateHash } from '../machinery/controller.ts'
import { kubeVirtDefinition } from '../virt-operator/kubevirt-crds.ts'
import { operatorManifest } from '../virt-operator/kubevirt-operator-manifest.ts'
import type { BundleShape, EntryShape, OlmShape } from './olm-shape.ts'
import type { Container, Deployment, PodTemplate } from '../../lib/kube/kinds/workload-kinds.ts'

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

/** A Deployment as a CSV carries it. */
export interface CarriedDeployment {
  name: string
  label: Record<string, string>
  spec: NonNullable<Deployment['spec']>
}

/** The other operators that a release of HyperConverged brings along (ocp 1.1), those that have operands here. */
const others = [
  'cluster-network-addons-operator',
  'ssp-operator',
  'cdi-operator',
  'hostpath-provisioner-operator',
]

/** What a release of HyperConverged installs; the operands come later, and not by OLM. */
function hyperConvergedDeployments(bundle: BundleShape, shape: OlmShape): CarriedDeployment[] {
  return [
    carried('hco-operator', 'hyperconverged-cluster-operator', bundle),
    carried('hco-webhook', 'hyperconverged-cluster-webhook', bundle),
    virtOperator(bundle, shape),
    ...others.map((name) => carried(name, name, bundle)),
  ]
}

/** What the release of another operator installs. */
function otherDeployments(name: string, { version }: EntryShape): CarriedDeployment[] {
  const image = `registry.example.com/${name}/controller:v${version}`
  const label = { name: `${name}-controller` }
  return [carriedAs(`${name}-controller`, label, { name: 'manager', image, command: ['manager'] })]
}

function carried(name: string, called: string, { version, kubevirt }: BundleShape): CarriedDeployment {
  const env = [
    { name: 'HCO_KV_IO_VERSION', value: version },
    { name: 'KUBEVIRT_VERSION', value: kubevirt },
  ]
  const image = `quay.io/kubevirt/${called}:${version}`
  return carriedAs(name, { name: called }, { name: called, image, command: [called], env })
}

function carriedAs(name: string, label: Record<string, string>, container: Container): CarriedDeployment {
  const template: PodTemplate = { metadata: { labels: label }, spec: { containers: [container] } }
  const selector = { matchLabels: label }
  return { name, label, spec: { replicas: 1, selector, strategy: { type: 'RollingUpdate' }, template } }
}

/** As in the release's own manifest. */
function virtOperator({ kubevirt }: BundleShape, { registry }: OlmShape): CarriedDeployment {
  const objects = operatorManifest(kubevirt, registry === undefined ? {} : { registry })
  const { metadata, spec = {} } = objects.find(({ kind }) => kind === 'Deployment') as Deployment
  return { name: metadata.name, label: metadata.labels ?? {}, spec }
}
