import * as kube from '../kinds.ts'
import { createHash } from 'node:crypto'
import table from './hyperconverged-bundle.json' with { type: 'json' }
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { hyperConvergedDefinition } from '../hyperconverged/hyperconverged-crd.ts'
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
    const displayName = release.package
    return [serviceVersion(release, { displayName, deployments: [otherDeployment(release)] })]
  }
  const { definitions, permissions, clusterPermissions, webhookdefinitions } = bundle
  const isIn = ({ since = 0 }: Dated): boolean => since <= kubeVirtMinor(entry)
  const owned = definitions.filter(isIn).map((one) => definitionIn(entry, one))
  const csv = serviceVersion(release, {
    displayName: 'KubeVirt HyperConverged Cluster Operator',
    deployments: bundle.deployments.map(([name = '', called = '']) =>
      carried(name, called, { entry, shape }),
    ),
    owned: owned.map(ownedDefinition),
    permissions: [kubeVirtRules(entry, 'Role'), ...permissions.filter(isIn).map(undated)],
    clusterPermissions: [
      kubeVirtRules(entry, 'ClusterRole'),
      ...clusterPermissions.filter(isIn).map(undated),
    ],
    webhookdefinitions,
  })
  return [csv, ...owned]
}

/** Of the minor of KubeVirt that brought it; what has none was always there. */
interface Dated {
  since?: number
}

/** A release of HyperConverged: CRDs and accounts in the order of its plan's steps, as recorded (the steps of 1.17.3 and 1.18.1), and of its operators those that have operands here. */
const bundle: Bundle = table

interface Bundle {
  definitions: readonly (Pick<Kind, 'apiVersion' | 'kind'> & { namespaced?: boolean } & Dated)[]
  /** With the name of their image. */
  deployments: readonly (readonly string[])[]
  clusterPermissions: readonly (Permission & Dated)[]
  permissions: readonly (Permission & Dated)[]
  webhookdefinitions: NonNullable<NonNullable<kube.Csv['spec']>['webhookdefinitions']>
}

interface Permission {
  serviceAccountName: string
  rules: kube.PolicyRule[]
}

const undated = ({ serviceAccountName, rules }: Permission): Permission => ({ serviceAccountName, rules })
const kubeVirtMinor = ({ kubevirt }: BundleShape): number => Number(/^v1\.(\d+)/u.exec(kubevirt)?.[1] ?? 0)

function definitionIn(
  { crd, kubevirt }: BundleShape,
  { apiVersion, kind, namespaced = false }: Bundle['definitions'][number],
): kube.CustomResourceDefinition {
  if (kind === kube.HyperConvergeds.kind) return hyperConvergedDefinition({ ...crd, conversion: 'None' })
  if (kind === 'KubeVirt') return kubeVirtDefinition(kubevirt)
  return definitionOf({ apiVersion, kind, plural: `${kind.toLowerCase()}s`, namespaced })
}

export const isServiceVersion = (object: KubeObject): object is kube.Csv => object.kind === kube.Csvs.kind

export function isBundle(entry: EntryShape): entry is BundleShape {
  return 'kubevirt' in entry
}

interface Described {
  displayName: string
  deployments: CarriedDeployment[]
  /** Its CustomResourceDefinitions. */
  owned?: OwnedDefinition[]
  permissions?: Permission[]
  clusterPermissions?: Permission[]
  webhookdefinitions?: Bundle['webhookdefinitions']
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
  { displayName, deployments, owned = [], webhookdefinitions, ...permitted }: Described,
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
      install: { strategy: 'deployment', spec: { deployments, ...permitted } },
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: type === 'AllNamespaces',
      })),
      customresourcedefinitions: { owned },
      ...(webhookdefinitions && { webhookdefinitions }),
    },
  })
}

/** As OLM marks what belongs to a CSV. */
export const ownedLabels = ({ metadata }: Pick<KubeObject, 'metadata'>): Record<string, string> => ({
  'olm.owner': metadata.name,
  'olm.owner.kind': kube.Csvs.kind,
  'olm.owner.namespace': metadata.namespace ?? '',
})

const known = new WeakMap<object, KubeObject[]>()

/** What OLM makes of the permissions that a CSV wants, account by account. CSVs come frozen from the store. */
export function permissionsOf(csv: kube.Csv): KubeObject[] {
  const { spec = {} } = csv
  const permissions = known.get(spec) ?? permissionsIn(csv)
  if (Object.isFrozen(spec)) known.set(spec, permissions)
  return permissions
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
const kubeVirtRules = ({ kubevirt }: BundleShape, kind: 'ClusterRole' | 'Role'): Permission => ({
  serviceAccountName: 'kubevirt-operator',
  rules: operatorManifest(kubevirt)
    .filter((one) => one.kind === kind)
    .flatMap((role) => (role as kube.Role).rules ?? []),
})

/** A Deployment as a CSV carries it. */
export interface CarriedDeployment {
  name: string
  label: Record<string, string>
  spec: NonNullable<kube.Deployment['spec']>
}

/** What the release of another operator installs. */
function otherDeployment({ package: name, entry: { version } }: Release): CarriedDeployment {
  const image = `registry.example.com/${name}/controller:v${version}`
  const label = { name: `${name}-controller` }
  return carriedAs(`${name}-controller`, label, { name: 'manager', image, command: ['manager'] })
}

/** virt-operator is that of the release's own manifest. */
function carried(
  name: string,
  called: string,
  { entry: { version, kubevirt }, shape: { registry } }: { entry: BundleShape; shape: OlmShape },
): CarriedDeployment {
  if (name === 'virt-operator') {
    const objects = operatorManifest(kubevirt, registry === undefined ? {} : { registry })
    const { metadata, spec = {} } = objects.find(({ kind }) => kind === 'Deployment') as kube.Deployment
    return { name: metadata.name, label: metadata.labels ?? {}, spec }
  }
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
