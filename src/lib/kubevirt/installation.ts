import type { Container, Deployment } from '../kube/kinds/workload-kinds.ts'
import type { KubeVirt } from '../kube/kinds/kubevirt-kinds.ts'
import { blocked, forbidden, type KvupError } from '../kube/errors.ts'
import { itemsOf } from '../kube/known.ts'
import type { Snapshot } from './snapshot.ts'
import { operatorName } from './installed-components.ts'
import type { KubeObject } from '../kube/object.ts'
import { roleRemedy } from '../output/kvup-words.ts'
import { valueAt } from '../kube/server-side-apply.ts'
import { shellWord } from '../kube/shell-line.ts'
import { onSingleLine, shorten } from '../kube/text.ts'

/** One KubeVirt and the operator that looks after it. */
export interface Installation {
  is: 'one'
  name: string
  namespace: string
  uid: string
  /** As it was read: `kubevirt.io/v1`, or `kubevirt.io/v1alpha3` where v1 is not served. */
  apiVersion: string
  manager: Manager
  /** Undefined when it is gone, in another namespace, or may not be read. */
  operator?: Operator
  imageTag?: string
  imageRegistry?: string
  /** As written; empty where it is absent, which means no automated workload update. */
  workloadUpdateMethods: readonly string[]
  /** The KubeVirt and the Deployment as they were seen. */
  kubevirt: KubeVirt
  deployment?: Deployment
}

export type Found =
  | Installation
  /** With an operator, it "does nothing until that resource exists" (night U7). */
  | { is: 'none'; operator?: Operator }
  | { is: 'several'; found: readonly { namespace: string; name: string }[] }
  | { is: 'unknown'; why: string }

/** Which KubeVirt there is, who manages it, and by what it is followed. */
export function getInstallation(snapshot: Snapshot): Found {
  if (!snapshot.kubevirts.known) return { is: 'unknown', why: snapshot.kubevirts.why }
  const [kubevirt, second] = snapshot.kubevirts.items
  const deployments = itemsOf(snapshot.operators)
  if (!kubevirt) return { is: 'none', ...operatorPart(deployments[0]) }
  if (second) return { is: 'several', found: snapshot.kubevirts.items.map(nameOf) }
  const deployment = deployments.find((d) => d.metadata.namespace === kubevirt.metadata.namespace)
  return one(kubevirt, deployment)
}

/** The installation, or the error that ends every command but `status`: exit 3, and 7 where it may not be read. */
export function theInstallation(snapshot: Snapshot): Installation {
  const found = getInstallation(snapshot)
  if (found.is !== 'one') throw notOne(found)
  return found
}

/** Why there is nothing to work on, as an error. */
export function notOne(found: Exclude<Found, Installation>): KvupError {
  if (found.is === 'unknown')
    return forbidden('kubevirts-not-readable', `kvup cannot see which KubeVirt is installed: ${found.why}`, {
      remedy: roleRemedy('kvup-view'),
    })
  if (found.is === 'several') return severalKubeVirts(found.found)
  return found.operator
    ? operatorAlone(found.operator)
    : blocked('no-kubevirt', 'KubeVirt is not installed here', {
        remedy: findCommand,
        sought: findCommand,
      })
}

const findCommand = 'kubectl get kubevirts.kubevirt.io -A'

/** What makes an operator without a KubeVirt begin. */
export function createCommand({ version = 'VERSION' }: Pick<Operator, 'version'>): string {
  return `kubectl apply -f https://github.com/kubevirt/kubevirt/releases/download/${version}/kubevirt-cr.yaml`
}

function operatorAlone({ namespace, version }: Operator): KvupError {
  return blocked(
    'no-kubevirt-cr',
    `virt-operator ${version ?? 'of unknown version'} runs in namespace ${namespace}, but there is no KubeVirt resource: create one to install KubeVirt`,
    { remedy: createCommand(version === undefined ? {} : { version }), sought: findCommand },
  )
}

function severalKubeVirts(found: readonly { namespace: string; name: string }[]): KvupError {
  const names = found.map(({ namespace, name }) => `${namespace}/${name}`).join(', ')
  return blocked(
    'several-kubevirts',
    `the cluster has ${found.length} KubeVirts (${names}), but only one may exist`,
    {
      remedy: 'kubectl get kubevirts.kubevirt.io -A     virt-operator ignores all but one',
    },
  )
}

function one(kubevirt: KubeVirt, deployment: Deployment | undefined): Installation {
  const { workloadUpdateStrategy } = kubevirt.spec ?? {}
  return {
    is: 'one',
    ...nameOf(kubevirt),
    uid: kubevirt.metadata.uid ?? '',
    apiVersion: kubevirt.apiVersion,
    manager: managerOf(kubevirt) ?? (deployment ? managerOf(deployment) : undefined) ?? { kind: 'plain' },
    ...operatorPart(deployment),
    ...imageSource(kubevirt),
    workloadUpdateMethods: workloadUpdateStrategy?.workloadUpdateMethods ?? [],
    kubevirt,
    ...(deployment ? { deployment } : {}),
  }
}

/** An empty text is as good as none to virt-operator (facts 2.1). */
function imageSource({ spec = {} }: KubeVirt): { imageTag?: string; imageRegistry?: string } {
  const { imageTag, imageRegistry } = spec
  return { ...(imageTag && { imageTag }), ...(imageRegistry && { imageRegistry }) }
}

function operatorPart(deployment: Deployment | undefined): { operator?: Operator } {
  return deployment ? { operator: operatorOf(deployment) } : {}
}

function nameOf({ metadata }: KubeVirt): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}

/** What the virt-operator Deployment says of itself, before anything was asked of KubeVirt. */
export interface Operator {
  name: string
  namespace: string
  image: string
  /** The tag of its image, or KUBEVIRT_VERSION where the image is a digest (facts 2.1); undefined where neither says. */
  version?: string
  /** Where it takes its operands from when the CR does not say. */
  registry: string
  /** Component images that are fixed by its environment: they win over imageTag (facts 2.1). */
  pinned: readonly PinnedImage[]
}

interface PinnedImage {
  env: string
  image: string
}

/** Reads the Deployment's template: environment and image of the container virt-operator. */
export function operatorOf(deployment: Deployment): Operator {
  const container = operatorContainer(deployment)
  const env = valuesOf(container)
  const image = env['VIRT_OPERATOR_IMAGE'] ?? env['OPERATOR_IMAGE'] ?? container?.image ?? ''
  const { tag, digest, registry } = parseImage(image)
  const version = digest === undefined ? tag : env['KUBEVIRT_VERSION']
  return {
    name: deployment.metadata.name,
    namespace: deployment.metadata.namespace ?? '',
    image,
    ...(version === undefined ? {} : { version }),
    registry,
    pinned: pinnedIn(env),
  }
}

function operatorContainer(deployment: Deployment): Container | undefined {
  const containers = deployment.spec?.template?.spec?.containers ?? []
  return containers.find((c) => c.name === operatorName) ?? containers[0]
}

function valuesOf(container: Container | undefined): Record<string, string> {
  return Object.fromEntries((container?.env ?? []).flatMap((e) => (e.value ? [[e.name, e.value]] : [])))
}

const componentImage =
  /^(VIRT_(?!OPERATOR_)[A-Z_]+_IMAGE|GS_IMAGE|PR_HELPER_IMAGE|SIDECAR_SHIM_IMAGE|VIRT_[A-Z]+_SHASUM)$/

function pinnedIn(env: Record<string, string>): readonly PinnedImage[] {
  return Object.entries(env)
    .filter(([name]) => componentImage.test(name))
    .map(([name, image]) => ({ env: name, image }))
}

/** An image reference in its parts: `quay.io/kubevirt/virt-operator:v1.8.4`. */
interface Image {
  /** Everything before the last slash. */
  registry: string
  /** The last part of the path, without tag and digest. */
  name: string
  tag?: string
  digest?: string
}

/** Reads an image reference; a port in the registry is not a tag. */
export function parseImage(reference: string): Image {
  const [path = '', digest] = reference.split('@', 2)
  const slash = path.lastIndexOf('/')
  const [name = '', tag] = path.slice(slash + 1).split(':', 2)
  return {
    registry: slash < 0 ? '' : path.slice(0, slash),
    name,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  }
}

/** Who puts an object back when somebody else changes it. `name` is the owner's own name, where it can be told. */
export interface Manager {
  kind: 'plain' | 'hyperconverged' | 'olm' | 'helm' | 'gitops'
  /** `HyperConverged`, `ClusterServiceVersion`, `Helm release`, `Argo CD application`, … */
  owner?: string
  name?: string
  namespace?: string
}

/** Whether its owner has layers of its own: HyperConverged, OLM and what they depend on. */
export const hasOwnLayers = ({ kind }: Manager): boolean => kind === 'hyperconverged' || kind === 'olm'

type Finder = (object: KubeObject) => Manager | undefined

/** In this order: what rewrites soonest comes first. */
const finders: readonly Finder[] = [
  hyperconverged,
  argo,
  labelled('kustomize.toolkit.fluxcd.io', 'Flux Kustomization'),
  labelled('helm.toolkit.fluxcd.io', 'Flux HelmRelease'),
  fleet,
  olm,
  helm,
  byFieldManager,
]

/** Read from ownerReferences, labels, annotations and managedFields of one object; undefined when nobody is named. */
export function managerOf(object: KubeObject): Manager | undefined {
  return finders.map((find) => find(object)).find(Boolean)
}

/** Whoever applies the KubeVirt has it from somewhere else: ` where Helm release virt has it from`; empty where nobody does. */
export function placeOf(owner: Manager | undefined): string {
  if (owner?.kind !== 'helm' && owner?.kind !== 'gitops') return ''
  const name = owner.name === undefined ? [] : [shellWord(shorten(onSingleLine(owner.name)))]
  return ` where ${[owner.owner ?? owner.kind, ...name].join(' ')} has it from`
}

/** Its operator sets back what is written to the KubeVirt, and brings its version. */
export const isOfHyperConverged = (kubevirt: KubeObject): boolean =>
  managerOf(kubevirt)?.kind === 'hyperconverged'

function hyperconverged(object: KubeObject): Manager | undefined {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.kind === 'HyperConverged')
  if (owner) return { kind: 'hyperconverged', owner: 'HyperConverged', name: owner.name }
  return label(object, 'app.kubernetes.io/managed-by') === 'hco-operator'
    ? { kind: 'hyperconverged', owner: 'HyperConverged' }
    : undefined
}

function argo(object: KubeObject): Manager | undefined {
  const owner = 'Argo CD application'
  // APPLICATION:GROUP/KIND:NAMESPACE/NAME; the application may be NAMESPACE_NAME.
  const tracked = annotation(object, 'argocd.argoproj.io/tracking-id')?.split(':')[0]
  const name = tracked ?? label(object, 'argocd.argoproj.io/instance')
  return name === undefined ? undefined : { kind: 'gitops', owner, name }
}

function labelled(prefix: string, owner: string): Finder {
  return (object) => {
    const name = label(object, `${prefix}/name`)
    const namespace = label(object, `${prefix}/namespace`)
    return name === undefined
      ? undefined
      : { kind: 'gitops', owner, name, ...(namespace ? { namespace } : {}) }
  }
}

function fleet(object: KubeObject): Manager | undefined {
  const name = annotation(object, 'objectset.rio.cattle.io/id')
  return name === undefined ? undefined : { kind: 'gitops', owner: 'Rancher Fleet bundle', name }
}

function olm(object: KubeObject): Manager | undefined {
  const name =
    label(object, 'olm.owner') ??
    object.metadata.ownerReferences?.find((reference) => reference.kind === 'ClusterServiceVersion')?.name
  return name === undefined ? undefined : { kind: 'olm', owner: 'ClusterServiceVersion', name }
}

function helm(object: KubeObject): Manager | undefined {
  const name = annotation(object, 'meta.helm.sh/release-name')
  const namespace = annotation(object, 'meta.helm.sh/release-namespace')
  if (name === undefined && label(object, 'app.kubernetes.io/managed-by') !== 'Helm') return undefined
  return {
    kind: 'helm',
    owner: 'Helm release',
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  }
}

const fieldManagers: Readonly<Record<string, Manager>> = {
  'argocd-controller': { kind: 'gitops', owner: 'Argo CD application' },
  'argocd-application-controller': { kind: 'gitops', owner: 'Argo CD application' },
  argocd: { kind: 'gitops', owner: 'Argo CD application' },
  'kustomize-controller': { kind: 'gitops', owner: 'Flux Kustomization' },
  'helm-controller': { kind: 'gitops', owner: 'Flux HelmRelease' },
  fleetagent: { kind: 'gitops', owner: 'Rancher Fleet bundle' },
  helm: { kind: 'helm', owner: 'Helm release' },
}

function byFieldManager(object: KubeObject): Manager | undefined {
  const found = object.metadata.managedFields?.find(({ manager = '' }) =>
    Object.hasOwn(fieldManagers, manager),
  )
  return fieldManagers[found?.manager ?? '']
}

const label = (object: KubeObject, key: string): string | undefined => object.metadata.labels?.[key]
const annotation = (object: KubeObject, key: string): string | undefined => object.metadata.annotations?.[key]

/** What is said of a KubeVirt or HyperConverged that somebody takes away, by its plural; undefined of one that stays. */
export function beingDeleted(plural: string, { metadata }: KubeObject): string | undefined {
  const { name, namespace = '', deletionTimestamp: since } = metadata
  if (since === undefined) return undefined
  return `${plural}/${name} in namespace ${namespace} is being deleted, since ${since}`
}

interface Gates {
  featureGates: readonly string[]
  disabledFeatureGates: readonly string[]
}

/** What `spec.configuration` of the KubeVirt has at a path; undefined where it is not set. */
export const configuredValue = (
  { kubevirt }: Pick<Installation, 'kubevirt'>,
  path: readonly string[],
): unknown => valueAt(kubevirt.spec, ['configuration', ...path])

/** The gates that somebody turned on or off in the KubeVirt resource (facts 1.3). */
export function gatesOf({ kubevirt }: Pick<Installation, 'kubevirt'>): Gates {
  const configuration: Record<string, unknown> = kubevirt.spec?.configuration ?? {}
  const { featureGates, disabledFeatureGates } = (configuration['developerConfiguration'] ?? {}) as {
    [list in keyof Gates]?: readonly string[] | null
  }
  return { featureGates: featureGates ?? [], disabledFeatureGates: disabledFeatureGates ?? [] }
}

/** Of these gates those that nobody decided on. */
export function undecided(gates: readonly string[], installation: Pick<Installation, 'kubevirt'>): string[] {
  const { featureGates, disabledFeatureGates } = gatesOf(installation)
  const decided = new Set([...featureGates, ...disabledFeatureGates])
  return gates.filter((gate) => !decided.has(gate))
}
