import * as kube from '../kinds.ts'
import { createHash } from 'node:crypto'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { hyperConvergedDefinition } from '../hyperconverged/hyperconverged-crd.ts'
import { components } from '../hyperconverged/hyperconverged-components.ts'
import { kubeVirtDefinition } from '../virt-operator/kubevirt-crds.ts'
import { operatorManifest } from '../virt-operator/kubevirt-operator-manifest.ts'
import type { BundleShape, EntryShape, OlmShape } from './olm-shape.ts'
import { made } from '../machinery/controller.ts'
import { definitionOf } from '../api/kinds/custom-kinds.ts'

/** The release of an operator that is to be installed in a namespace in the place of another. */
export interface Release {
  package: string
  entry: EntryShape
  namespace: string
  /** The CSV that it replaces; OLM writes it into the new one, whatever the edge was. */
  replaces?: string | undefined
}

/** The CSV and what else a plan applies, in the order of its steps. Permissions have hashed names and so are new with each release (olm-real, "Simulated OLM"). */
export function bundleObjects(release: Release, shape: OlmShape): KubeObject[] {
  const objects = bundleFiles(release, shape)
  return [...objects, ...objects.filter(isServiceVersion).flatMap(permissionsOf)]
}

/** The objects that a bundle's image holds, which OLM unpacks: what the CSV wants to be permitted is made of what it says. */
export function bundleFiles(release: Release, shape: OlmShape): KubeObject[] {
  const { entry } = release
  if (!isBundle(entry)) {
    const deployments = otherDeployments(release.package, entry)
    return [serviceVersion(release, { displayName: release.package, deployments, owned: [], accounts: [] })]
  }
  const definitions = definitionsOf(entry)
  return [
    serviceVersion(release, {
      displayName: 'KubeVirt HyperConverged Cluster Operator',
      deployments: hyperConvergedDeployments(entry, shape),
      owned: definitions.map(ownedDefinition),
      accounts: accountsOf(entry),
      webhooks: [
        {
          type: 'ValidatingAdmissionWebhook',
          generateName: 'validate-hco.kubevirt.io',
          deploymentName: 'hco-webhook',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
        },
      ],
    }),
    ...definitions,
  ]
}

export const isServiceVersion = (object: KubeObject): object is kube.Csv => object.kind === kube.Csvs.kind

export function isBundle(entry: EntryShape): entry is BundleShape {
  return 'kubevirt' in entry
}

interface Described {
  displayName: string
  deployments: readonly { name: string; label: Record<string, string>; spec: { template?: object } }[]
  /** Its CustomResourceDefinitions. */
  owned: readonly OwnedDefinition[]
  accounts: readonly Account[]
  webhooks?: NonNullable<NonNullable<kube.Csv['spec']>['webhookdefinitions']>
}

interface OwnedDefinition {
  name: string
  kind: string
  version: string
}

/** The API server wants all three. */
function ownedDefinition({ metadata: { name }, spec = {} }: kube.CustomResourceDefinition): OwnedDefinition {
  const stored = spec.versions?.find(({ storage }) => storage === true)
  return { name, kind: spec.names?.kind ?? '', version: stored?.name ?? '' }
}

function serviceVersion(
  { package: name, entry, namespace, replaces }: Release,
  { displayName, deployments, owned, accounts, webhooks = [] }: Described,
): kube.Csv {
  const limit = entry.maxOpenShiftVersion
  const properties = limit === undefined ? [] : [{ type: 'olm.maxOpenShiftVersion', value: limit }]
  return made(kube.Csvs, {
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
      install: { strategy: 'deployment', spec: { deployments: [...deployments], ...permitted(accounts) } },
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: type === 'AllNamespaces',
      })),
      customresourcedefinitions: { owned: [...owned] },
      ...(webhooks.length > 0 && { webhookdefinitions: [...webhooks] }),
    },
  })
}

/** As OLM marks what belongs to a CSV. */
export const ownedLabels = ({ metadata }: Pick<KubeObject, 'metadata'>): Record<string, string> => ({
  'olm.owner': metadata.name,
  'olm.owner.kind': kube.Csvs.kind,
  'olm.owner.namespace': metadata.namespace ?? '',
})

/** What a bundle wants an account of its operators to be permitted. */
interface Account {
  name: string
  inCluster: kube.PolicyRule[]
  /** In the namespace of the operator; not all want something there. */
  inNamespace?: kube.PolicyRule[]
}

function permitted(accounts: readonly Account[]): object {
  const within = accounts.flatMap(({ name, inNamespace }) =>
    inNamespace === undefined ? [] : [{ serviceAccountName: name, rules: inNamespace }],
  )
  const everywhere = accounts.map(({ name, inCluster }) => ({ serviceAccountName: name, rules: inCluster }))
  return accounts.length === 0 ? {} : { permissions: within, clusterPermissions: everywhere }
}

const permissions = new WeakMap<object, KubeObject[]>()

/** What OLM makes of the permissions that a CSV wants, account by account. CSVs come frozen from the store. */
export function permissionsOf(csv: kube.Csv): KubeObject[] {
  const { spec = {} } = csv
  const known = permissions.get(spec) ?? permissionsIn(csv)
  if (Object.isFrozen(spec)) permissions.set(spec, known)
  return known
}

function permissionsIn(csv: kube.Csv): KubeObject[] {
  const { permissions: within = [], clusterPermissions: everywhere = [] } = csv.spec?.install?.spec ?? {}
  const { namespace } = csv.metadata
  const names = new Set([...within, ...everywhere].map((one) => one.serviceAccountName ?? ''))
  const all: KubeObject[] = []
  for (const name of names) {
    const rulesIn = (of: typeof within) => of.filter(({ serviceAccountName }) => serviceAccountName === name)
    all.push(made(kube.ServiceAccounts, { metadata: { name, namespace } }))
    for (const { rules = [] } of rulesIn(within))
      all.push(...roleAndBinding(csv, { account: name, rules, within: namespace }))
    for (const { rules = [] } of rulesIn(everywhere))
      all.push(...roleAndBinding(csv, { account: name, rules }))
  }
  return all
}

function roleAndBinding(
  csv: kube.Csv,
  { account, rules, within }: { account: string; rules: kube.PolicyRule[]; within?: string | undefined },
): KubeObject[] {
  const name = hashedName(csv.metadata.name, { account, rules, within, csv: csv.metadata.name })
  const metadata = {
    name,
    ...(within !== undefined && { namespace: within }),
    labels: ownedLabels(csv),
  }
  const [role, binding] =
    within === undefined ? [kube.ClusterRoles, kube.ClusterRoleBindings] : [kube.Roles, kube.RoleBindings]
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace: csv.metadata.namespace ?? '' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name }
  const wanted: kube.Role = made(role, { metadata, rules })
  const bound = made(binding, { metadata, roleRef, subjects })
  return [wanted, bound]
}

const longestName = 63
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The hash takes the end of the name, and as much of the CSV's stands before it as there is room for. */
function hashedName(csv: string, of: object): string {
  let rest = BigInt(`0x${createHash('sha224').update(JSON.stringify(of)).digest('hex')}`)
  let hash = ''
  for (; rest > 0n; rest /= 62n) hash = `${digits[Number(rest % 62n)]}${hash}`
  return `${csv.slice(0, longestName - hash.length - 1)}-${hash}`
}

/** Of the release's own manifest. */
const kubeVirtRules = (version: string, kind: 'ClusterRole' | 'Role'): kube.PolicyRule[] =>
  operatorManifest(version)
    .filter((one) => one.kind === kind)
    .flatMap((role) => (role as kube.Role).rules ?? [])

const every = ['*']
const hyperConvergedRules: kube.PolicyRule[] = [
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

const leading: kube.PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'create', 'update'] },
]

/** Of an operator that has a CRD of its own. */
const operatorOf = (name: string, apiGroup: string): Account => ({
  name,
  inCluster: [{ apiGroups: [apiGroup], resources: every, verbs: every }],
  inNamespace: leading,
})

const reading = (name: string, apiGroup: string, resource: string): Account => ({
  name,
  inCluster: [{ apiGroups: [apiGroup], resources: [resource], verbs: ['get', 'list', 'watch'] }],
})

/** Releases since that of KubeVirt v1.8 have two accounts and two CRDs more. */
const isLater = ({ kubevirt }: BundleShape): boolean => Number(/^v1\.(\d+)/u.exec(kubevirt)?.[1] ?? 0) >= 8

function accountsOf(bundle: BundleShape): Account[] {
  const { kubevirt } = bundle
  return [
    {
      name: 'kubevirt-operator',
      inCluster: kubeVirtRules(kubevirt, 'ClusterRole'),
      inNamespace: kubeVirtRules(kubevirt, 'Role'),
    },
    operatorOf('ssp-operator', 'ssp.kubevirt.io'),
    operatorOf('cdi-operator', 'cdi.kubevirt.io'),
    operatorOf('hostpath-provisioner-operator', 'hostpathprovisioner.kubevirt.io'),
    operatorOf('kubevirt-migration-operator', 'migrations.kubevirt.io'),
    { name: 'hyperconverged-cluster-operator', inCluster: hyperConvergedRules },
    reading('hyperconverged-cluster-cli-download', 'route.openshift.io', 'routes'),
    ...(isLater(bundle) ? [reading('virt-platform-autopilot', 'kubevirt.io', 'kubevirts')] : []),
    operatorOf('cluster-network-addons-operator', 'networkaddonsoperator.network.kubevirt.io'),
    operatorOf('aaq-operator', 'aaq.kubevirt.io'),
    ...(isLater(bundle) ? [operatorOf('inflightoperations-controller-manager', 'ifo.kubevirt.io')] : []),
  ]
}

const customKind = (kind: string, apiVersion: string, namespaced = false): Kind => ({
  apiVersion,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
})

function definitionsOf(bundle: BundleShape): kube.CustomResourceDefinition[] {
  const [cdi, network, ssp] = components.map(({ kind }) => definitionOf(kind))
  const later = ['InFlightOperation', 'OperationRuleSet'].map((kind) =>
    customKind(kind, 'ifo.kubevirt.io/v1alpha1', true),
  )
  const all = [
    definitionOf(customKind('AAQ', 'aaq.kubevirt.io/v1alpha1')),
    network,
    cdi,
    hyperConvergedDefinition({ ...bundle.crd, conversion: 'None' }),
    definitionOf(customKind('HostPathProvisioner', 'hostpathprovisioner.kubevirt.io/v1beta1')),
    ...(isLater(bundle) ? later.map((kind) => definitionOf(kind)) : []),
    kubeVirtDefinition(bundle.kubevirt),
    definitionOf(customKind('MigController', 'migrations.kubevirt.io/v1alpha1')),
    ssp,
  ]
  return all.flatMap((one) => one ?? [])
}

/** A Deployment as a CSV carries it. */
export interface CarriedDeployment {
  name: string
  label: Record<string, string>
  spec: NonNullable<kube.Deployment['spec']>
}

/** The other operators that a release of HyperConverged brings along (ocp 1.1), those that have operands here. */
const others = [
  'cluster-network-addons-operator',
  'ssp-operator',
  'cdi-operator',
  'hostpath-provisioner-operator',
]

/** What a release of HyperConverged installs; the operands come later, and not by OLM. */
const hyperConvergedDeployments = (bundle: BundleShape, shape: OlmShape): CarriedDeployment[] => [
  carried('hco-operator', 'hyperconverged-cluster-operator', bundle),
  carried('hco-webhook', 'hyperconverged-cluster-webhook', bundle),
  virtOperator(bundle, shape),
  ...others.map((name) => carried(name, name, bundle)),
]

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

function carriedAs(name: string, label: Record<string, string>, container: kube.Container) {
  const template: kube.PodTemplate = { metadata: { labels: label }, spec: { containers: [container] } }
  const selector = { matchLabels: label }
  return { name, label, spec: { replicas: 1, selector, strategy: { type: 'RollingUpdate' }, template } }
}

/** As in the release's own manifest. */
function virtOperator({ kubevirt }: BundleShape, { registry }: OlmShape): CarriedDeployment {
  const objects = operatorManifest(kubevirt, registry === undefined ? {} : { registry })
  const { metadata, spec = {} } = objects.find(({ kind }) => kind === 'Deployment') as kube.Deployment
  return { name: metadata.name, label: metadata.labels ?? {}, spec }
}
