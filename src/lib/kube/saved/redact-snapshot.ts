import { eachText, isRecord, type KubeObject, type Metadata, lastApplied, withoutKeys } from '../object.ts'
import { isSecretName, hidden } from '../http/secret-text.ts'
import { redactBody, redactUrl } from '../http/trace.ts'

/** Rules of a cluster, which name verbs, kinds and components and nothing private. */
const impersonal = new Set(
  'CustomResourceDefinition APIService ClusterRole ClusterRoleBinding Role RoleBinding'.split(' '),
)

/**
 * The same objects with stand-ins for the names of namespaces, nodes, VMs, users and registries: the same name is the same stand-in
 * everywhere, so that the same is judged. `home`, KubeVirt's namespace, and those of the platform stay.
 */
export function redacted<T extends KubeObject>(
  objects: readonly KubeObject[],
  { home, users, index }: { home: string | undefined; users: readonly string[]; index: T },
): { objects: KubeObject[]; index: T } {
  const names = privateNames(objects, home)
  const words = wordsOf(names, registryStandIns(objects), numbered(new Set(users), 'user'))
  const ours = objects
    .filter((object) => !isForeignWebhook(object, home))
    .map((object, at) => namelessBinding(object, home, at))
  return {
    objects: ours.map((object) => redactedObject(nameless(withoutSelector(object)), names, words)),
    index: { ...(words(withoutSelections(index)) as T), objects: ours.length },
  }
}

/** A budget of people's pods selects them by labels of their own. */
function withoutSelector(object: KubeObject): KubeObject {
  const { spec } = object as { spec?: { selector?: { matchLabels?: Record<string, string> } } }
  if (object.kind !== 'PodDisruptionBudget' || !spec?.selector) return object
  const matchLabels = withoutKeys(spec.selector.matchLabels ?? {}, (key) => !judgedKeys.test(key))
  return Object.assign({}, object, { spec: { ...spec, selector: { matchLabels } } })
}

/** What was asked of pods by such labels is not told either: it counts as not saved. */
function withoutSelections<T extends KubeObject & { read?: readonly PodQuestion[] }>(index: T): T {
  return index.read === undefined ? index : { ...index, read: index.read.filter(isTold) }
}

interface PodQuestion {
  kind?: string
  labels?: string
  namespace?: string
}

/** All launchers of a cluster are asked for to compare their labels with budgets. */
const isTold = ({ kind, labels = '', namespace }: PodQuestion): boolean =>
  kind !== 'Pod' ||
  ((labels !== 'kubevirt.io=virt-launcher' || namespace !== undefined) &&
    labels
      .split(/,(?![^(]*\))/u)
      .every((term) => term === '' || judgedKeys.test(term.replace(/^!/u, '').split(/[=! ]/u)[0] ?? '')))

/** Of people's own objects no note stays that is not judged; of KubeVirt's and the cluster's all. */
function nameless(object: KubeObject): KubeObject {
  if (impersonal.has(object.kind)) return object
  const isPeoples = isMachine(object) || object.kind === 'Pod'
  const { metadata, ...rest } = object
  return {
    ...(anonymous(rest, (key) => !isPeoples || isJudgedNote(key)) as typeof rest),
    metadata: anonymous(metadata, () => true) as Metadata,
  }
}

/** In a namespace of people a binding may be called by their names: of those it is judged which role is bound, and how many there are. */
function namelessBinding(object: KubeObject, home: string | undefined, at: number): KubeObject {
  const { apiVersion, kind, metadata, roleRef } = object as KubeObject & { roleRef?: unknown }
  const { namespace } = metadata
  if (kind !== 'RoleBinding' || namespace === home) return object
  const bare = { name: `binding-${at + 1}`, ...(namespace !== undefined && { namespace }) }
  return { apiVersion, kind, metadata: bare, ...(roleRef !== undefined && { roleRef }) }
}

function redactedObject(object: KubeObject, names: PrivateNames, words: Words): KubeObject {
  const { metadata, ...rest } = object
  const { name, namespace, labels, annotations, ...others } = metadata
  const placed = namespace === undefined ? undefined : names.namespaces.get(namespace)
  const where = placed === undefined ? {} : { namespace: placed }
  // virt-operator's stamps name the registry.
  if (impersonal.has(object.kind))
    return {
      ...object,
      metadata: { ...metadata, ...(annotations && { annotations: words(annotations) as Texts }), ...where },
    }
  const isPrivate = placed !== undefined || isMachine(object) || object.kind === 'Node'
  const texts = (all: Texts) => words(withoutKeys(all, (key) => isPrivate && !isJudgedNote(key))) as Texts
  return {
    ...(words(rest) as typeof rest),
    metadata: {
      ...(words(others) as typeof others),
      name: isPrivate || object.kind === 'Namespace' ? standInOf(object, names) : name,
      ...(namespace !== undefined && { namespace }),
      ...where,
      ...(labels && { labels: texts(labels) }),
      ...(annotations && { annotations: texts(annotations) }),
    },
  }
}

type Texts = Record<string, string>

/** What an OpenShift pool made of a node, and is about to make: where they differ it is about to reboot (night C4). */
const poolAnnotation = /^machineconfiguration\.openshift\.io\/(?:current|desired)Config$/u
const judgedKeys =
  /(^|[./])(kubevirt|kubernetes|k8s|kvup|x-k8s)\.io(\/|$)|^(app\.kubernetes\.io|name$)|^k8s\.v1\.cni\.cncf\.io\/resourceName$|^sidecar\.istio\.io\/inject$/

const isJudgedNote = (key: string): boolean => judgedKeys.test(key) || poolAnnotation.test(key)

function standInOf(object: KubeObject, { nodes, vms, others, namespaces }: PrivateNames): string {
  const { name } = object.metadata
  if (object.kind === 'Node') return nodes.get(name) ?? name
  if (object.kind === 'Namespace') return namespaces.get(name) ?? name
  return (isMachine(object) ? undefined : others.get(name)) ?? vms.get(name) ?? name
}

/** Webhooks of other programs name services of other people. */
function isForeignWebhook(object: KubeObject, home: string | undefined): boolean {
  const { webhooks } = object as { webhooks?: { clientConfig?: { service?: { namespace?: string } } }[] }
  if (!object.kind.endsWith('WebhookConfiguration')) return false
  return !webhooks?.some(({ clientConfig }) => clientConfig?.service?.namespace === home)
}

/** Names that tell nobody anything: those of platforms and of KubeVirt itself. */
const publicNamespace = /^(default|kube-.+|openshift(-.+)?|kubevirt(-.+)?|cdi|olm|operators|descheduler)$/

type StandIns = ReadonlyMap<string, string>

/** Names that say something about whose cluster it is, and what stands for them: `node-01` … `node-12`. */
interface PrivateNames {
  namespaces: StandIns
  nodes: StandIns
  /** Of VMs and VMIs. */
  vms: StandIns
  /** Of what else lives in private namespaces. */
  others: StandIns
  /** Names that judgements know: of what is in KubeVirt's namespace, and of what has none. Never replaced in a text, even where a VM is called so. */
  known: ReadonlySet<string>
}

/** `home` is KubeVirt's namespace, which stays. */
function privateNames(objects: readonly KubeObject[], home: string | undefined): PrivateNames {
  const isPublic = (namespace: string) => namespace === home || publicNamespace.test(namespace)
  const isPrivate = ({ metadata: { namespace } }: KubeObject) =>
    namespace !== undefined && !isPublic(namespace)
  const namesOf = (fits: (object: KubeObject) => boolean) =>
    new Set(objects.filter(fits).map(({ metadata }) => metadata.name))
  const namespaces = new Set(objects.filter(isPrivate).map(({ metadata }) => metadata.namespace ?? ''))
  const nodes = new Set([...namesOf(({ kind }) => kind === 'Node'), ...objects.flatMap(nodesIn)])
  const vms = namesOf(isMachine)
  const others = namesOf((one) => isPrivate(one) && !isMachine(one) && one.kind !== 'RoleBinding')
  const isKnown = ({ kind, metadata: { name } }: KubeObject) =>
    kind !== 'Node' && (kind !== 'Namespace' || isPublic(name))
  const known = namesOf((one) => !isPrivate(one) && !isMachine(one) && isKnown(one))
  return {
    namespaces: numbered(namespaces, 'namespace'),
    nodes: numbered(nodes, 'node'),
    vms: numbered(vms, 'vm'),
    others: numbered(new Set([...others].filter((name) => !vms.has(name))), 'name'),
    known,
  }
}

const isMachine = ({ kind }: KubeObject): boolean =>
  kind === 'VirtualMachine' || kind === 'VirtualMachineInstance'

/** Nodes that are gone, or may not be seen. */
const nodesIn = ({ spec, status }: KubeObject & { spec?: Part; status?: Part }): string[] =>
  [
    spec?.['nodeName'],
    spec?.['evacuationNodeName'],
    status?.['nodeName'],
    status?.['evacuationNodeName'],
  ].filter((name): name is string => typeof name === 'string' && name !== '')
type Part = Record<string, unknown>

/** Or an API group that looks like one: Argo CD tracks `APP:kubevirt.io/KubeVirt:NAMESPACE/NAME`. */
const publicRegistry =
  /^(quay\.io|docker\.io|ghcr\.io|gcr\.io|registry\.redhat\.io|([a-z0-9-]+\.)*(kubevirt|k8s)\.io)(?![a-z0-9.-])/
/** From where a host begins, as long as hosts and paths can be: a large text takes no longer for being made of one word. */
const image =
  /(?<![a-z0-9-]|[a-z0-9-]\.)(?<registry>(?:[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,20}|localhost)(?::\d{1,5})?(?:\/[a-z0-9._-]{1,128}){0,15})\/[a-z0-9._-]{1,128}[:@]/gi

/** Registries of one's own, with their paths, the longest first, and what stands for them. */
function registryStandIns(objects: readonly KubeObject[]): [registry: string, standIn: string][] {
  const found = new Set<string>()
  eachText(objects, (text, key) => {
    for (const registry of registriesIn(text, key)) if (!publicRegistry.test(registry)) found.add(registry)
  })
  return [...found]
    .toSorted()
    .map((registry, index): [string, string] => [registry, `registry-${index + 1}.invalid/mirror`])
    .sort(([a], [b]) => b.length - a.length)
}

function registriesIn(text: string, key: string): string[] {
  if (/registry$/i.test(key)) return text === '' ? [] : [text]
  return [...text.matchAll(image)].flatMap(({ groups }) => groups?.['registry'] ?? [])
}

/** Over this length a name is judged by its length: names of migration pods get too long. What is too long stays too long. */
const judgedLength = 47

/** A name for each, always the same, in the same order. */
function numbered(names: ReadonlySet<string>, word: string): StandIns {
  const digits = String(names.size).length
  return new Map(
    [...names].toSorted().map((name, index) => {
      const standIn = `${word}-${String(index + 1).padStart(digits, '0')}`
      return [name, name.length > judgedLength ? standIn.padEnd(name.length, '-x') : standIn]
    }),
  )
}

/** The same value with stand-ins in all its texts; member names stay. */
type Words = (value: unknown) => unknown

const word = /[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/gi
/** Looked for only from where a name begins: in a text of one long word it would take hours otherwise. */
const person = /(?<![\w.+-])[\w.+-]+@(?!sha256:)[\w.-]*\w/g
const launcher = /^(?<before>virt-launcher-)(?<vm>.+)(?<after>-[a-z0-9]{5})$/

/** Fields that hold one name: it is replaced whatever else it means. */
const nameFields = new Set(['nodeName', 'sourceNode', 'targetNode', 'evacuationNodeName', 'vmiName'])
/** Words of Kubernetes: none of them is a name. */
const fixedFields = new Set(['apiVersion', 'kind', 'type', 'status', 'phase', 'reason', 'uid', 'op', 'code'])
const common =
  'kubevirt default system true false linux amd64 arm64 s390x node nodes pod pods get list watch patch create delete metadata spec status'

function wordsOf(
  { nodes, vms, others, namespaces, known }: PrivateNames,
  registries: readonly (readonly [string, string])[],
  users: StandIns,
): Words {
  const names = new Map([...others, ...vms, ...nodes, ...namespaces])
  const people = new Map(users)
  const spared = new Set([...known, ...common.split(' ')])
  const personOf = (name: string): string => {
    const standIn = people.get(name) ?? `user-${people.size + 1}@host`
    people.set(name, standIn)
    return standIn
  }
  const wordOf = (one: string): string => {
    if (spared.has(one)) return one
    const { before = '', vm = '', after = '' } = launcher.exec(one)?.groups ?? {}
    const oneVm = vms.get(vm)
    return names.get(one) ?? (oneVm === undefined ? one : `${before}${oneVm}${after}`)
  }
  const textOf = (text: string): string =>
    [...registries, ...users]
      .reduce((result, [name, standIn]) => result.replaceAll(name, standIn), text)
      .replaceAll(person, personOf)
      .replaceAll(word, wordOf)
  return (value) =>
    rewritten(value, (one, { key }) => {
      if (typeof one !== 'string' || fixedFields.has(key)) return undefined
      return (nameFields.has(key) ? names.get(one) : undefined) ?? textOf(one)
    })
}

/** Where a value stands: in a list under the key of that. */
interface At {
  key: string
  holder: object
  /** The key of what holds it. */
  parent: string
}

const gone = Symbol('gone')

/** A copy in which each value is what `change` makes of it, `gone` for nothing; undefined: it stays, and what is in it is changed. */
function rewritten(
  value: unknown,
  change: (value: unknown, at: At) => unknown,
  at: At = { key: '', holder: {}, parent: '' },
): unknown {
  const changed = change(value, at)
  if (changed !== undefined) return changed
  if (Array.isArray(value)) return value.map((one) => rewritten(one, change, at))
  if (!isRecord(value)) return value
  const kept = Object.entries(value).map(([key, below]) => [
    key,
    rewritten(below, change, { key, holder: value, parent: at.key }),
  ])
  return Object.fromEntries(kept.filter(([, below]) => below !== gone))
}

const isCalled = (variable: object, fits: (name: string) => boolean): boolean =>
  'name' in variable && typeof variable.name === 'string' && fits(variable.name)

/**
 * The same object without what is a secret by its name or shape: values of environment variables that are called so, names and
 * passwords in addresses, and both of them in what kubectl applied. Nothing is judged by these.
 */
export const withoutSecrets = (object: KubeObject): KubeObject =>
  rewritten(object, (value, { key, holder }) => {
    if (key === 'value' && isCalled(holder, isSecretName)) return hidden
    if (typeof value !== 'string') return undefined
    if (key === lastApplied) return redactBody(value, '')
    return value.includes('@') ? redactUrl(value) : value
  }) as KubeObject

/** Of KubeVirt's own environment it is judged which release and which images it means. */
const judgedVariable = /^(?:KUBEVIRT_|VIRT_|OPERATOR_)|_(?:IMAGE|VERSION|SHASUM|NAME|NAMESPACE)$/
const ownGroups =
  /(?:^|\.)(?:kubevirt\.io|k8s\.io|kubernetes\.io|openshift\.io|coreos\.com|svc|local|example)$/i
const host = /\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}\b/giu
const address = /\b(?:\d{1,3}\.){3}\d{1,3}\b/gu
/** One dot is a file or a version as well; an address says that it is a host. */
const linked = /(?<=:\/\/)[^\s/:?#"'<>]+/gu

/**
 * What else says whose cluster it is, for `--redact`: values of environment variables, notes and names that people give to guests, what kubectl
 * applied, and hosts in texts.
 */
const anonymous = (value: unknown, isNote: (key: string) => boolean): unknown =>
  rewritten(value, (one, { key, holder, parent }) => {
    if (parent === 'env' && key === 'value')
      return isCalled(holder, (name) => judgedVariable.test(name)) ? one : hidden
    if (key === 'hostname' || key === 'subdomain') return gone
    // The size is judged, and nothing else.
    if (key === lastApplied) return 'x'.repeat(String(one).length)
    if ((parent === 'annotations' || parent === 'labels') && !isNote(key)) return gone
    return typeof one === 'string' && key === 'message' ? hostless(one) : undefined
  })

const hostless = (text: string): string =>
  text
    .replace(linked, (one) => (ownGroups.test(one) ? one : 'host.example'))
    .replace(host, (one) => (one.split('.').length < 3 || ownGroups.test(one) ? one : 'host.example'))
    .replace(address, '192.0.2.1')
