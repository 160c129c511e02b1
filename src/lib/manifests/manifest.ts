import {
  isRecord,
  type Kind,
  type KubeObject,
  type Metadata,
  withoutKeys,
  namespacedKind,
} from '../kube/object.ts'
import { type Container, type Deployment, Deployments } from '../kube/kinds/workload-kinds.ts'
import { messageOf, usageError } from '../kube/errors.ts'
import { fits } from '../kube/shape.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  CustomResourceDefinitions,
  PriorityClasses,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
  ServiceAccounts,
} from '../kube/kinds/extension-kinds.ts'
import { type Document, parseAllDocuments } from 'yaml'
import { ConfigMaps, Namespaces, PodDisruptionBudgets } from '../kube/kinds/core-kinds.ts'
import type { Reader } from '../kube/cluster.ts'

/** A kubevirt-operator.yaml: what it holds, in the order in which it is applied. */
export interface Manifest {
  readonly origin: string
  readonly objects: readonly KubeObject[]
  readonly operator: Deployment
  readonly namespace: string
}

/** Throws `usage` that says what the objects look like instead, or that kvup does not know a kind among them. */
export function operatorManifest(objects: readonly KubeObject[], origin: string): Manifest {
  const operator = objects.find(isOperator)
  const crd = objects.some(
    (o) => o.kind === 'CustomResourceDefinition' && o.metadata.name === 'kubevirts.kubevirt.io',
  )
  if (operator === undefined || !crd) throw notAManifest(origin, shapeOf(objects, operator, crd))
  for (const object of objects) mustBeSound(object, origin)
  const { namespace = '' } = operator.metadata
  return { origin, objects: inApplyOrder(objects), operator, namespace }
}

function mustBeSound(object: KubeObject, origin: string): void {
  if (kindOf(object).namespaced && object.metadata.namespace === undefined)
    throw notAManifest(origin, `${nameOf(object)} names no namespace`)
  // The first list that kvup reads and that holds something else than objects.
  const bad = Object.entries(listsOf(object)).find(([, list]) => !isListOfObjects(list))?.[0]
  const wrong = bad ?? withoutVerbs(object)
  if (wrong !== undefined) throw notAManifest(origin, `${wrong} of ${nameOf(object)} is no list of objects`)
}

/** Throws `usage` unless everything in the manifest that names the version names this one (`v1.8.4`). */
export function mustBeVersion({ origin, operator }: Manifest, to: string): void {
  const found = versionsIn(operator)
  const other = found.find(({ version }) => canonical(version) !== canonical(to))
  if (found.length > 0 && other === undefined) return
  const is = other === undefined ? 'names no version' : `is of ${other.version} (${other.where})`
  throw usageError('manifest-version', `the manifest ${origin} ${is}, not of ${to}`, {
    remedy:
      other === undefined
        ? 'name the kubevirt-operator.yaml of the release: --manifest FILE|URL'
        : [
            `kvup upgrade --to ${other.version} --manifest ${origin === 'standard input' ? '-' : origin}`,
            'or name the manifest of the right version',
          ],
  })
}

const isOperator = (object: KubeObject): object is Deployment =>
  object.kind === Deployments.kind && object.metadata.name === 'virt-operator'

const canonical = (version: string) => version.replace(/^v/, '')

function shapeOf(objects: readonly KubeObject[], operator: Deployment | undefined, crd: boolean): string {
  const kinds = [...new Set(objects.map((o) => o.kind))]
  if (kinds.includes('ClusterServiceVersion')) return 'it is for OLM (a ClusterServiceVersion)'
  if (kinds.includes('HyperConverged')) return 'it has a HyperConverged, not the operator of KubeVirt'
  if (kinds.length === 1 && kinds[0] === 'KubeVirt')
    return 'it looks like a kubevirt-cr.yaml (the KubeVirt CR alone)'
  if (operator !== undefined && !crd) return 'the CustomResourceDefinition kubevirts.kubevirt.io is missing'
  if (crd) return 'the Deployment virt-operator is missing'
  return `it has ${kinds.join(', ')}`
}

function listsOf(object: KubeObject): Record<string, unknown> {
  const { containers, initContainers } = (object as Deployment).spec?.template?.spec ?? {}
  const all = [containers, initContainers].flatMap((list) => (isListOfObjects(list) ? (list ?? []) : []))
  return {
    rules: (object as Role).rules,
    subjects: (object as RoleBinding).subjects,
    containers,
    initContainers,
    env: all.flatMap(({ env }) => env ?? []),
  }
}

const withoutVerbs = (role: Role): string | undefined =>
  (role.rules ?? []).every(({ verbs }) => Array.isArray(verbs)) ? undefined : 'verbs'

function isListOfObjects(list: unknown): boolean {
  if (list === undefined || list === null) return true
  return Array.isArray(list) && list.every((item) => typeof item === 'object' && item !== null)
}

/**
 * The objects of a multi-document YAML or JSON text, Lists unfolded, without what only a server writes. Scalars are read as
 * kubectl reads them (YAML 1.1: `yes` is true, 0644 is 420). Throws `usage` where the text is something else.
 */
export function parseManifest(text: string, origin: string): KubeObject[] {
  const objects = documentsOf(text, origin).flatMap((document) => objectsOf(document, origin))
  if (objects.length === 0) throw notAManifest(origin, 'it is empty')
  const observed = new Set<string>()
  for (const object of objects) {
    const key = [object.apiVersion, object.kind, object.metadata.namespace, object.metadata.name].join('/')
    if (observed.has(key)) throw notAManifest(origin, `${nameOf(object)} is in it twice`)
    observed.add(key)
  }
  return objects.map((object) => withoutServerFields(object))
}

const notAManifest = (origin: string, why: string): Error =>
  usageError('not-a-manifest', `${origin} is no kubevirt-operator.yaml: ${why}`, {
    remedy: 'name the kubevirt-operator.yaml of the release: --manifest FILE|URL',
  })

/** Types that YAML 1.1 has and kubectl does not turn into anything: they stay text. */
const unwantedTags = new Set(
  ['binary', 'omap', 'pairs', 'set', 'timestamp'].map((t) => `tag:yaml.org,2002:${t}`),
)

function documentsOf(text: string, origin: string): unknown[] {
  if (/^\s*<(!doctype|html|\?xml)/i.test(text))
    throw notAManifest(origin, 'it is an HTML page, perhaps of a login or a proxy')
  if (text.includes('\0')) throw notAManifest(origin, 'it is a binary file')
  const documents = parseAllDocuments(text, {
    version: '1.1',
    customTags: (tags) =>
      tags.filter((tag) => typeof tag === 'string' || !(unwantedTags.has(tag.tag) || tag.format === 'TIME')),
  })
  if ('empty' in documents) return []
  return documents.map((document) => valueOf(document, origin))
}

function valueOf(document: Document, origin: string): unknown {
  const [error] = document.errors
  if (error !== undefined) throw notAManifest(origin, `it is no YAML: ${error.message.split('\n', 1)[0]}`)
  try {
    return document.toJS() as unknown
  } catch (cause) {
    throw notAManifest(origin, `it is no YAML: ${messageOf(cause)}`)
  }
}

function objectsOf(document: unknown, origin: string): KubeObject[] {
  if (document === null || document === undefined) return []
  if (!isRecord(document)) throw notAManifest(origin, 'it has text that is no Kubernetes object')
  const { kind, items } = document
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item) => objectsOf(item, origin))
  if (!isKubeObject(document))
    throw notAManifest(origin, 'it has a document without apiVersion, kind or name')
  return [document]
}

const isKubeObject = (value: Record<string, unknown>): value is Record<string, unknown> & KubeObject =>
  fits(value, { apiVersion: 'text', kind: 'text', metadata: { name: 'text' } })

const Services: Kind = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }
const NetworkPolicies = namespacedKind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies')

/**
 * Kinds that an operator manifest may hold, in the order in which they are applied: what others need comes first,
 * and the Deployment last, so that the new operator finds its rights (facts 7, issue PR 18497).
 */
const manifestKinds: readonly Kind[] = [
  Namespaces,
  CustomResourceDefinitions,
  PriorityClasses,
  ClusterRoles,
  ServiceAccounts,
  Roles,
  RoleBindings,
  ClusterRoleBindings,
  ConfigMaps,
  Services,
  NetworkPolicies,
  PodDisruptionBudgets,
  Deployments,
]

/** Throws `usage` for a kind that no operator manifest of KubeVirt holds: kvup applies nothing it does not know. */
export function kindOf(object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): Kind {
  const kind = manifestKinds.find((k) => k.kind === object.kind && k.apiVersion === object.apiVersion)
  if (kind !== undefined) return kind
  throw usageError(
    'unknown-kind',
    `the manifest has ${nameOf(object)} (${object.apiVersion}), a kind that does not belong in an operator manifest`,
    { remedy: 'remove it from the file and apply it yourself: kubectl apply --server-side -f FILE' },
  )
}

const inApplyOrder = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.toSorted((a, b) => place(a) - place(b))

const place = (object: KubeObject) => manifestKinds.indexOf(kindOf(object))

const serverMetadata = new Set(
  'uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds managedFields ownerReferences selfLink'.split(
    ' ',
  ),
)

const bookkeeping =
  /^(kubectl\.kubernetes\.io\/last-applied-configuration|deployment\.kubernetes\.io\/revision)$/

/** The object as a person would write it: no status, no uid, nothing that only the server or a controller keeps. */
export function withoutServerFields(object: KubeObject): KubeObject {
  const {
    apiVersion,
    kind,
    metadata: known,
    status: _,
    ...rest
  } = object as KubeObject & { status?: unknown }
  const metadata = withoutKeys(known, (key) => serverMetadata.has(key) || key === 'annotations')
  const annotations = withoutKeys(known.annotations ?? {}, (key) => bookkeeping.test(key))
  if (Object.keys(annotations).length > 0) metadata['annotations'] = annotations
  return { apiVersion, kind, metadata: metadata as unknown as Metadata, ...rest }
}

const labels = ['kubevirt.io', 'operator.kubevirt.io']
const kinds: readonly Kind[] = [ClusterRoles, ClusterRoleBindings, ServiceAccounts, Roles, RoleBindings]

/**
 * Objects that an older operator manifest has left and this one lacks: labelled as operator manifests label theirs and not
 * made by virt-operator itself. They are shown to a person, never deleted.
 */
export async function notInManifest(reader: Pick<Reader, 'list'>, manifest: Manifest): Promise<KubeObject[]> {
  const { namespace } = manifest
  // Items of a list come without kind and apiVersion from a real server.
  const labelled = async (kind: Kind, label: string): Promise<KubeObject[]> => {
    const items = await reader.list(kind, { labels: label, ...(kind.namespaced && { namespace }) })
    return items.map((item) => Object.assign({ apiVersion: kind.apiVersion, kind: kind.kind }, item))
  }
  const lists = kinds.flatMap((kind) => labels.map((label) => labelled(kind, label)))
  const found = (await Promise.all(lists)).flat().filter((object) => !madeByOperator(object))
  const left = new Map(found.map((object) => [keyOf(object), object]))
  for (const object of manifest.objects) left.delete(keyOf(object))
  return [...left.values()]
}

const keyOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`

const madeByOperator = ({ metadata }: KubeObject) =>
  metadata.labels?.['app.kubernetes.io/managed-by']?.startsWith('virt-operator') === true

/**
 * The manifest for the namespace that the operator lives in. Another one is refused (`usage`), because it would make a second
 * operator, unless `rewrite` asks to move everything in it: objects, subjects of bindings, environment.
 */
export function inNamespace(manifest: Manifest, namespace: string, rewrite: boolean): Manifest {
  if (manifest.namespace === namespace) return manifest
  if (!rewrite) {
    throw usageError(
      'manifest-namespace',
      `the manifest ${manifest.origin} is for namespace ${manifest.namespace}, but the operator runs in ${namespace}`,
      { remedy: 'add --rewrite-namespace to apply it there instead' },
    )
  }
  const objects = manifest.objects.map((object) => moved(object, manifest.namespace, namespace))
  return operatorManifest(objects, manifest.origin)
}

function moved(object: KubeObject, from: string, to: string): KubeObject {
  const copy = structuredClone(object)
  if (copy.metadata.namespace === from) copy.metadata.namespace = to
  if (copy.kind === 'Namespace' && copy.metadata.name === from) copy.metadata.name = to
  for (const subject of (copy as RoleBinding).subjects ?? []) {
    if (subject.namespace === from) subject.namespace = to
  }
  for (const variable of containersOf(copy).flatMap((c) => c.env ?? [])) {
    if (variable.name.includes('NAMESPACE') && variable.value === from) variable.value = to
  }
  return copy
}

/** An image of the operator as virt-operator itself takes it apart (facts 2.1). */
export interface OperatorImage {
  registry: string
  /** `corp-` in `registry/corp-virt-operator:v1.8.4`; mostly empty. */
  prefix: string
  /** `:v1.8.4` or `@sha256:…`; empty where there is neither. */
  suffix: string
}

export function operatorImage(image: string | undefined): OperatorImage | undefined {
  const [, registry, prefix, suffix] = /^(.*)\/(.*)virt-operator([@:].*)?$/.exec(image ?? '') ?? []
  if (registry === undefined || prefix === undefined) return undefined
  return { registry, prefix, suffix: suffix ?? '' }
}

/** The container of the operator: named so, or the only one. */
export function operatorContainer(deployment: Deployment): Container | undefined {
  const containers = deployment.spec?.template?.spec?.containers ?? []
  return containers.find((c) => c.name === 'virt-operator') ?? containers[0]
}

function versionsIn(deployment: Deployment): { version: string; where: string }[] {
  const container = operatorContainer(deployment)
  const env = new Map((container?.env ?? []).map(({ name, value }) => [name, value]))

  const named = {
    VIRT_OPERATOR_IMAGE: tagOf(env.get('VIRT_OPERATOR_IMAGE') ?? env.get('OPERATOR_IMAGE')),
    KUBEVIRT_VERSION: env.get('KUBEVIRT_VERSION'),
    'the image of virt-operator': tagOf(container?.image),
  }
  return Object.entries(named).flatMap(([where, version]) => (version ? [{ version, where }] : []))
}

const tagOf = (image: string | undefined): string | undefined =>
  /^:([^@]+)/.exec(operatorImage(image)?.suffix ?? '')?.[1]

/** Every container of an object with a pod template, those to change in a copy included; none elsewhere. */
export function containersOf(object: KubeObject): Container[] {
  const pod = (object as Deployment).spec?.template?.spec
  return [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]
}

/** `Deployment virt-operator`: how an object of a manifest is named to a person. */
export const nameOf = ({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string =>
  `${kind} ${metadata.name}`
