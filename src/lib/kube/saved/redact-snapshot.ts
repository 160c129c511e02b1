import { type KubeObject, type Metadata, lastApplied } from '../object.ts'
import { isSecretName, hidden } from '../http/secret-text.ts'
import { redactBody, redactUrl } from '../http/trace.ts'

/** Rules of a cluster, which name verbs, kinds and components and nothing private. */
const impersonal = new Set([
  'CustomResourceDefinition',
  'APIService',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
])

/**
 * The same objects with stand-ins for the names of namespaces, nodes, VMs, users and registries: the same name is the same stand-in
 * everywhere, so that the same is judged. `home`, KubeVirt's namespace, and those of the platform stay.
 */
export function redacted<T extends KubeObject>(
  objects: readonly KubeObject[],
  { home, users, index }: { home: string | undefined; users: readonly string[]; index: T },
): { objects: KubeObject[]; index: T } {
  const names = privateNames(objects, home)
  const places = standIns(names)
  const words = wordsOf(places, {
    known: names.known,
    registries: registryStandIns(objects),
    users: numbered(new Set(users), 'user'),
  })
  const ours = objects
    .filter((object) => !isForeignWebhook(object, home))
    .map((object, at) => namelessBinding(object, home, at))
  return {
    objects: ours.map((object) => redactedObject(nameless(withoutSelector(object)), places, words)),
    index: { ...(words.within(withoutSelections(index)) as T), objects: ours.length },
  }
}

/** A budget of people's pods selects them by labels of their own. */
function withoutSelector<T extends KubeObject>(object: T): T {
  const { spec } = object as { spec?: { selector?: { matchLabels?: Record<string, string> } } }
  if (object.kind !== 'PodDisruptionBudget' || !spec?.selector) return object
  const labels = Object.entries(spec.selector.matchLabels ?? {}).filter(([key]) => judgedKeys.test(key))
  return { ...object, spec: { ...spec, selector: { matchLabels: Object.fromEntries(labels) } } }
}

/** What was asked of pods by such labels is not told either: it counts as not saved. */
function withoutSelections<T extends KubeObject>(index: T): T {
  const { read } = index as { read?: readonly PodQuestion[] }
  if (read === undefined) return index
  return { ...index, read: read.filter(isTold) }
}

interface PodQuestion {
  kind?: string
  labels?: string
  namespace?: string
}

/** All launchers of a cluster are asked for to compare their labels with budgets. */
const isTold = ({ kind, labels = '', namespace }: PodQuestion): boolean =>
  kind !== 'Pod' ||
  (labels === 'kubevirt.io=virt-launcher' && namespace === undefined ? false : isOfJudgedKeys(labels))

const isOfJudgedKeys = (labels: string): boolean =>
  labels.split(/,(?![^(]*\))/u).every((term) => term === '' || judgedKeys.test(keyOf(term)))

const keyOf = (term: string): string => term.replace(/^!/u, '').split(/[=! ]/u)[0] ?? ''

/** Of people's own objects no note stays that is not judged; of KubeVirt's and the cluster's all. */
function nameless(object: KubeObject): KubeObject {
  if (impersonal.has(object.kind)) return object
  const isPeoples = isMachine(object) || object.kind === 'Pod'
  const { metadata, ...rest } = object
  const isNote = (key: string) => !isPeoples || judgedKeys.test(key) || poolAnnotation.test(key)
  return {
    ...(anonymous(rest, isNote) as typeof rest),
    metadata: anonymous(metadata, () => true) as Metadata,
  }
}

/** In a namespace of people a binding may be called by their names: of those it is judged which role is bound, and how many there are. */
function namelessBinding(object: KubeObject, home: string | undefined, at: number): KubeObject {
  const { apiVersion, kind, metadata, roleRef } = object as KubeObject & { roleRef?: unknown }
  if (kind !== 'RoleBinding' || metadata.namespace === home) return object
  const { namespace } = metadata
  const bare = { name: `binding-${at + 1}`, ...(namespace !== undefined && { namespace }) }
  return { apiVersion, kind, metadata: bare, ...(roleRef !== undefined && { roleRef }) }
}

function redactedObject(object: KubeObject, places: StandIns, words: Words): KubeObject {
  const { metadata, ...rest } = object
  if (impersonal.has(object.kind)) {
    const { namespace } = metadata
    const placed = namespace !== undefined && places.namespaces.get(namespace)
    const where = placed ? { namespace: placed } : {}
    return { ...object, metadata: { ...metadata, ...annotationsOf(metadata, words), ...where } }
  }
  return {
    ...(words.within(rest) as typeof rest),
    metadata: redactedMetadata(object, metadata, { places, words }),
  }
}

/** virt-operator's stamps name the registry. */
function annotationsOf({ annotations }: Metadata, words: Words): Pick<Metadata, 'annotations'> {
  return annotations ? { annotations: words.within(annotations) as Record<string, string> } : {}
}

const judgedKeys =
  /(^|[./])(kubevirt|kubernetes|k8s|kvup|x-k8s)\.io(\/|$)|^(app\.kubernetes\.io|name$)|^k8s\.v1\.cni\.cncf\.io\/resourceName$|^sidecar\.istio\.io\/inject$/

function redactedMetadata(
  object: KubeObject,
  { name, namespace, labels, annotations, ...rest }: Metadata,
  { places, words }: { places: StandIns; words: Words },
): Metadata {
  const placed = namespace !== undefined && places.namespaces.get(namespace)
  const isPrivate = Boolean(placed) || isMachine(object) || object.kind === 'Node'
  const texts = (all: Record<string, string>): Record<string, string> => {
    const kept = Object.entries(all).filter(
      ([key]) => !isPrivate || judgedKeys.test(key) || poolAnnotation.test(key),
    )
    return words.within(Object.fromEntries(kept)) as Record<string, string>
  }
  return {
    ...(words.within(rest) as typeof rest),
    name: isPrivate || object.kind === 'Namespace' ? nameOf(object, places) : name,
    ...(namespace !== undefined && { namespace: placed || namespace }),
    ...(labels && { labels: texts(labels) }),
    ...(annotations && { annotations: texts(annotations) }),
  }
}

function nameOf(object: KubeObject, { nodes, vms, others, namespaces }: StandIns): string {
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

interface PrivateNames {
  namespaces: ReadonlySet<string>
  nodes: ReadonlySet<string>
  /** Of VMs and VMIs. */
  vms: ReadonlySet<string>
  /** Of what else lives in private namespaces. */
  others: ReadonlySet<string>
  /** Names that judgements know: of what is in KubeVirt's namespace, and of what has none. */
  known: ReadonlySet<string>
}

/** Which names say something about whose cluster it is. `home` is KubeVirt's namespace, which stays. */
function privateNames(objects: readonly KubeObject[], home: string | undefined): PrivateNames {
  const names = {
    namespaces: new Set<string>(),
    nodes: new Set<string>(),
    vms: new Set<string>(),
    others: new Set<string>(),
    known: new Set<string>(),
  }
  const isPublic = (namespace: string) => namespace === home || publicNamespace.test(namespace)
  for (const object of objects) {
    const { name, namespace } = object.metadata
    if (namespace !== undefined && !isPublic(namespace)) {
      names.namespaces.add(namespace)
      if (object.kind !== 'RoleBinding') names[isMachine(object) ? 'vms' : 'others'].add(name)
    } else if (isMachine(object)) names.vms.add(name)
    else if (object.kind === 'Node') names.nodes.add(name)
    else if (object.kind !== 'Namespace' || isPublic(name)) names.known.add(name)
    for (const node of nodesIn(object)) names.nodes.add(node)
  }
  return names
}

function isMachine({ kind }: KubeObject): boolean {
  return kind === 'VirtualMachine' || kind === 'VirtualMachineInstance'
}

const nodeKeys = ['nodeName', 'evacuationNodeName']

/** Nodes that are gone, or may not be seen. */
function nodesIn(object: KubeObject): string[] {
  const { spec, status } = object as { spec?: Record<string, unknown>; status?: Record<string, unknown> }
  return [spec, status].flatMap((part) =>
    nodeKeys.flatMap((key) => (typeof part?.[key] === 'string' && part[key] !== '' ? [part[key]] : [])),
  )
}

/** Or an API group that looks like one: Argo CD tracks `APP:kubevirt.io/KubeVirt:NAMESPACE/NAME`. */
const publicRegistry =
  /^(quay\.io|docker\.io|ghcr\.io|gcr\.io|registry\.redhat\.io|([a-z0-9-]+\.)*(kubevirt|k8s)\.io)(?![a-z0-9.-])/
/** From where a host begins, as long as hosts and paths can be: a large text takes no longer for being made of one word. */
const image =
  /(?<![a-z0-9-]|[a-z0-9-]\.)(?<registry>(?:[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,20}|localhost)(?::\d{1,5})?(?:\/[a-z0-9._-]{1,128}){0,15})\/[a-z0-9._-]{1,128}[:@]/gi

/** Registries of one's own, with their paths, the longest first, and what stands for them. */
function registryStandIns(objects: readonly KubeObject[]): [registry: string, standIn: string][] {
  const found = new Set<string>()
  const visit = (value: unknown, key: string): void => {
    if (typeof value === 'string') for (const registry of registriesIn(value, key)) found.add(registry)
    else if (typeof value === 'object' && value !== null)
      for (const [name, below] of Object.entries(value)) visit(below, name)
  }
  for (const object of objects) visit(object, '')
  const own = [...found].filter((registry) => !publicRegistry.test(registry)).toSorted()
  return own
    .map((registry, index): [string, string] => [registry, `registry-${index + 1}.invalid/mirror`])
    .sort(([a], [b]) => b.length - a.length)
}

function registriesIn(text: string, key: string): string[] {
  if (/registry$/i.test(key)) return text === '' ? [] : [text]
  return [...text.matchAll(image)].flatMap(({ groups }) => groups?.['registry'] ?? [])
}

/** Over this length a name is judged by its length: names of migration pods get too long. */
const judgedLength = 47

interface StandIns {
  namespaces: ReadonlyMap<string, string>
  nodes: ReadonlyMap<string, string>
  vms: ReadonlyMap<string, string>
  others: ReadonlyMap<string, string>
}

/** A name for each, always the same, in the same order; what is too long stays too long. */
const standIns = ({ namespaces, nodes, vms, others }: PrivateNames): StandIns => ({
  namespaces: numbered(namespaces, 'namespace'),
  nodes: numbered(nodes, 'node'),
  vms: numbered(vms, 'vm'),
  others: numbered(new Set([...others].filter((name) => !vms.has(name))), 'name'),
})

/** `node-01` … `node-12` */
function numbered(names: ReadonlySet<string>, word: string): Map<string, string> {
  const digits = String(names.size).length
  const sorted = [...names].toSorted()
  return new Map(
    sorted.map((name, index) => {
      const standIn = `${word}-${String(index + 1).padStart(digits, '0')}`
      return [name, name.length > judgedLength ? standIn.padEnd(name.length, '-x') : standIn]
    }),
  )
}

/** Puts the stand-ins into texts. */
interface Words {
  /** The same value with stand-ins in all its strings; member names stay. */
  within(value: unknown): unknown
}

interface Vocabulary {
  /** Never replaced in a text, even where a VM is called so. */
  known: ReadonlySet<string>
  registries: readonly (readonly [string, string])[]
  users: ReadonlyMap<string, string>
}

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

function wordsOf(places: StandIns, { known, registries, users }: Vocabulary): Words {
  const { nodes, vms, others, namespaces } = places
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
  const textOf = (text: string): string => {
    let result = text
    for (const [registry, standIn] of registries) result = result.replaceAll(registry, standIn)
    for (const [user, standIn] of users) result = result.replaceAll(user, standIn)
    return result.replaceAll(person, personOf).replaceAll(word, wordOf)
  }
  const valueOf = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') {
      if (fixedFields.has(key)) return value
      return (nameFields.has(key) ? names.get(value) : undefined) ?? textOf(value)
    }
    if (Array.isArray(value)) return value.map((one) => valueOf(one, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, valueOf(below, name)]))
  }
  return { within: (value) => valueOf(value, '') }
}

/**
 * The same object without what is a secret by its name or shape: values of environment variables that are called so, names and
 * passwords in addresses, and both of them in what kubectl applied. Nothing is judged by these.
 */
export const withoutSecrets = (object: KubeObject): KubeObject => clean(object) as KubeObject

function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('@') ? redactUrl(value) : value
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  const isSecret = 'name' in value && typeof value.name === 'string' && isSecretName(value.name)
  return Object.fromEntries(
    Object.entries(value).map(([key, below]) => [
      key,
      isSecret && key === 'value' ? hidden : kept(key, below),
    ]),
  )
}

const kept = (key: string, below: unknown): unknown =>
  key === lastApplied && typeof below === 'string' ? redactBody(below, '') : clean(below)

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
 * applied, and hosts in texts. `machine`: a VM or VMI, whose template is of people as well.
 */
function anonymous(value: unknown, isNote: (key: string) => boolean): unknown {
  const within = (one: unknown, key: string): unknown => {
    if (typeof one === 'string') return key === 'message' ? hostless(one) : one
    if (Array.isArray(one)) return one.map((each) => within(each, key))
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).flatMap(([name, below]) => member(one, key, name, below)))
  }
  const member = (whole: object, parent: string, name: string, below: unknown): [string, unknown][] => {
    if (parent === 'env' && name === 'value') return [[name, isJudged(whole) ? below : hidden]]
    if (name === 'hostname' || name === 'subdomain') return []
    // The size is judged, and nothing else.
    if (name === lastApplied) return [[name, 'x'.repeat(String(below).length)]]
    if ((parent === 'annotations' || parent === 'labels') && !isNote(name)) return []
    return [[name, within(below, name)]]
  }
  return within(value, '')
}

const isJudged = (variable: object): boolean =>
  'name' in variable && typeof variable.name === 'string' && judgedVariable.test(variable.name)

function hostless(text: string): string {
  return text
    .replace(linked, (one) => (ownGroups.test(one) ? one : 'host.example'))
    .replace(host, (one) => (one.split('.').length < 3 || ownGroups.test(one) ? one : 'host.example'))
    .replace(address, '192.0.2.1')
}

/** What an OpenShift pool made of a node, and is about to make: where they differ it is about to reboot (night C4). */
export const poolAnnotation = /^machineconfiguration\.openshift\.io\/(?:current|desired)Config$/u
