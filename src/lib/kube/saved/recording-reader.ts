import { ApiError } from '../errors.ts'
import type {
  Access,
  Change,
  Found,
  LogOptions,
  Page,
  Reader,
  Ref,
  Reviewer,
  ServerVersion,
  Where,
} from '../cluster.ts'
import {
  isRecord,
  type Kind,
  type KubeObject,
  type Metadata,
  parseJson,
  wholeOf,
  lastApplied,
} from '../object.ts'
import { type Question, questionOf, type SnapshotIndex, type Unread } from './saved-cluster.ts'
import { poolAnnotation, withoutSecrets } from './redact-snapshot.ts'

/**
 * Answers like the Reader and the Reviewer behind it, and keeps what they said: a snapshot holds all that a judgement asked for
 * because the judgement itself asked, and of that the whole objects. Secrets are never kept.
 */
export class RecordingReader implements Reader {
  readonly #reader: Reader
  readonly #objects = new Map<string, KubeObject>()
  readonly #read = new Map<string, Question>()
  readonly #unread = new Map<string, Unread>()
  readonly #groups = new Map<string, readonly string[]>()
  readonly #rights = new Map<string, { access: Access; allowed: boolean }>()
  #version: ServerVersion | undefined

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** In the order of kind, namespace and name. */
  objects(): KubeObject[] {
    return inOrder(this.#objects)
  }

  /** In an order that does not tell which answer came first: of the same cluster it is the same. */
  recorded(): Pick<SnapshotIndex, 'read' | 'unread' | 'groups' | 'rights' | 'serverVersion'> {
    return {
      read: inOrder(this.#read),
      unread: inOrder(this.#unread),
      groups: Object.fromEntries([...this.#groups].toSorted(byKey)),
      rights: inOrder(this.#rights),
      ...(this.#version && { serverVersion: this.#version }),
    }
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> {
    const question = questionOf(kind, ref)
    const found = await this.#asked(question, this.#reader.get(kind, ref))
    if (found.is === 'unserved') this.#refused(question, { status: 404, statusReason: 'Unserved' })
    else this.#answered(question)
    if (found.is === 'object') this.#keep(found.object)
    return found
  }

  async list<T extends KubeObject>(kind: Kind<T>, where: Where = {}): Promise<T[]> {
    const all: T[] = []
    for await (const { items } of this.pages(kind, where)) for (const item of items) all.push(item)
    return all
  }

  async *pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}): AsyncGenerator<Page<T>> {
    const question = questionOf(kind, where)
    try {
      for await (const page of this.#reader.pages(wholeOf(kind), where)) {
        for (const item of page.items) this.#keep(item)
        yield page
      }
    } catch (error) {
      this.#failed(question, error)
      throw error
    }
    this.#answered(question)
  }

  watch<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal): AsyncIterable<Change<T>> {
    return this.#reader.watch(kind, where, signal)
  }

  async versions(group: string): Promise<readonly string[]> {
    const versions = await this.#reader.versions(group)
    this.#groups.set(group, versions)
    return versions
  }

  async version(): Promise<ServerVersion> {
    return (this.#version = await this.#reader.version())
  }

  async log(pod: Ref, options?: LogOptions): Promise<string> {
    return this.#reader.log(pod, options)
  }

  /** The same for questions about rights. */
  reviewing(reviewer: Reviewer): Pick<Reviewer, 'can'> {
    return {
      can: async (access) => {
        const answer = await reviewer.can(access)
        this.#rights.set(JSON.stringify(access), { access, allowed: answer.allowed })
        return answer
      },
    }
  }

  #keep(object: KubeObject): void {
    const kept = trimmed(object)
    if (kept === undefined) return
    const { namespace = '', name } = object.metadata
    this.#objects.set(`${object.kind} ${object.apiVersion} ${namespace}/${name}`, kept)
  }

  async #asked<T>(question: Question, answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      this.#failed(question, error)
      throw error
    }
  }

  #answered(question: Question): void {
    this.#read.set(JSON.stringify(question), question)
  }

  #failed(question: Question, error: unknown): void {
    if (error instanceof ApiError) this.#refused(question, error)
  }

  #refused(
    question: Question,
    { status, statusReason, message = '' }: Pick<ApiError, 'status' | 'statusReason'> & { message?: string },
  ): void {
    const unread = { ...question, code: status, reason: statusReason, why: message }
    this.#unread.set(JSON.stringify(question), unread)
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

const inOrder = <T>(found: ReadonlyMap<string, T>): T[] => [...found].toSorted(byKey).map(([, one]) => one)

const parts = (object: KubeObject) => object as unknown as Record<string, Record<string, unknown> | undefined>

const trims: Readonly<Record<string, (object: KubeObject) => KubeObject>> = {
  CustomResourceDefinition: withoutSchemas,
  ClusterRoleBinding: withoutPeople,
  RoleBinding: withoutPeople,
  Node: nodeWithoutImages,
  Pod: podWithoutMounts,
  VirtualMachine: vmWithoutDisks,
  VirtualMachineInstance: vmWithoutDisks,
  DataVolume: jobWithoutSource,
  VirtualMachineSnapshot: jobWithoutSource,
  VirtualMachineRestore: jobWithoutSource,
  VirtualMachineClone: jobWithoutSource,
  VirtualMachineExport: jobWithoutSource,
  VirtualMachineBackup: jobWithoutSource,
  APIRequestCount: countWithoutUsers,
  ClusterVersion: clusterVersionWithoutId,
  ClusterOperator: operatorWithoutObjects,
  Infrastructure: topologyOnly,
  ClusterServiceVersion: csvWithoutTexts,
  InstallPlan: planWithoutManifests,
  PackageManifest: packageWithoutTexts,
  NetworkAttachmentDefinition: networkWithoutAddresses,
}

/** Of these it is judged who wrote what, and how large the last-applied annotation is. */
const judgedByManagers = new Set([
  'KubeVirt',
  'Deployment',
  'DaemonSet',
  'CustomResourceDefinition',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
])

/** What is kept of an object: all that is judged by, and nothing that could be a secret. Undefined: nothing at all. */
export function trimmed(object: KubeObject): KubeObject | undefined {
  if (object.kind === 'Secret' || isOfOthers(object)) return undefined
  const { kind } = object
  const kept = withoutSecrets({ ...object, metadata: trimmedMetadata(kind, object.metadata) })
  return Object.hasOwn(trims, kind) ? trims[kind]?.(kept) : kept
}

/** CRDs and APIServices of groups that no fact is about: there may be hundreds. */
function isOfOthers(object: KubeObject): boolean {
  const aboutGroups = object.kind === 'CustomResourceDefinition' || object.kind === 'APIService'
  return aboutGroups && !/(^|\.)kubevirt\.io$/.test(String(parts(object)['spec']?.['group']))
}

function trimmedMetadata(kind: string, metadata: Metadata): Metadata {
  const { managedFields, annotations, ...rest } = metadata
  const kept = Object.entries(annotations ?? {}).filter(
    ([key]) => key !== lastApplied || judgedByManagers.has(kind),
  )
  return {
    ...rest,
    ...(annotations && { annotations: Object.fromEntries(kept) }),
    ...(managedFields && judgedByManagers.has(kind) && { managedFields }),
  }
}

function withoutSchemas(object: KubeObject): KubeObject {
  const spec = parts(object)['spec'] ?? {}
  const { conversion: _, versions, ...rest } = spec
  const bare = (versions as Record<string, unknown>[] | undefined)?.map(
    ({ schema: _schema, ...version }) => version,
  )
  return { ...object, spec: { ...rest, ...(bare && { versions: bare }) } } as KubeObject
}

/** Users and their groups are nobody's business; ServiceAccounts are judged. */
function withoutPeople(object: KubeObject): KubeObject {
  const { subjects } = object as { subjects?: { kind: string; name: string }[] }
  const programs = subjects?.filter(
    ({ kind, name }) => kind === 'ServiceAccount' || (kind === 'Group' && name.startsWith('system:')),
  )
  return { ...object, ...(programs && { subjects: programs }) }
}

type Json = Record<string, unknown>
type Loose = KubeObject & { spec?: Json; status?: Json }

const without = (whole: Json | undefined, ...members: string[]): Json =>
  Object.fromEntries(Object.entries(whole ?? {}).filter(([name]) => !members.includes(name)))

/** Whole lists of images and mounted volumes, addresses, and annotations of whoever likes to write some. */
function nodeWithoutImages(object: KubeObject): KubeObject {
  const { metadata, spec, status } = object as Loose
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => key.includes('kubevirt.io/') || poolAnnotation.test(key),
  )
  return {
    ...object,
    metadata: { ...metadata, annotations: Object.fromEntries(annotations) },
    spec: without(spec, 'podCIDR', 'podCIDRs', 'providerID'),
    status: without(status, 'images', 'volumesInUse', 'volumesAttached', 'addresses', 'daemonEndpoints'),
  } as Loose
}

function podWithoutMounts(object: KubeObject): KubeObject {
  const { spec, status } = object as Loose
  return {
    ...object,
    spec: without(spec, 'volumes'),
    status: without(status, 'podIP', 'podIPs', 'hostIP', 'hostIPs'),
  } as Loose
}

/** Only how far it is: where disks come from may have names and passwords in it. */
function jobWithoutSource(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status } = object as Loose
  const { phase, complete, readyToUse, conditions } = status ?? {}
  return { apiVersion, kind, metadata, status: { phase, complete, readyToUse, conditions } } as Loose
}

/** A VM or VMI: its volumes only by name and kind (cloud-init holds passwords), nothing that its guest says of itself. */
function vmWithoutDisks(object: KubeObject): KubeObject {
  const { spec, status } = object as Loose
  const template = spec?.['template'] as { metadata?: unknown; spec?: Json } | undefined
  const bare = template
    ? { ...spec, template: { ...template, spec: bareInstance(template.spec) } }
    : bareInstance(spec)
  return {
    ...object,
    spec: without(bare, 'dataVolumeTemplates'),
    status: without(status, ...noise),
  } as Loose
}

const noise = [
  'guestOSInfo',
  'interfaces',
  'phaseTransitionTimestamps',
  'topologyHints',
  'volumeStatus',
  'kernelBootStatus',
  'volumeSnapshotStatuses',
  'virtualMachineRevisionName',
]

function bareInstance(spec: Json | undefined): Json {
  const { volumes, domain, networks, ...rest } = without(
    spec,
    'accessCredentials',
    'dnsConfig',
    'readinessProbe',
    'livenessProbe',
  )
  return {
    ...rest,
    ...(Array.isArray(volumes) && { volumes: volumes.map((volume) => bareVolume(volume as Json)) }),
    ...(Array.isArray(networks) && { networks: networks.flatMap(bareNetwork) }),
    ...(domain !== undefined && { domain: bareDomain(domain as Json) }),
  }
}

/** Which NetworkAttachmentDefinition it is on; of the pods' own network nothing is judged. */
function bareNetwork(network: unknown): readonly Json[] {
  const { name, multus } = isRecord(network) ? network : {}
  if (!isRecord(multus)) return []
  return [{ name, multus: { networkName: multus['networkName'] } }]
}

const typeOf = (one: unknown): Json =>
  isRecord(one) && typeof one['type'] === 'string' ? { type: one['type'] } : {}

/** The plugins that it is made of by their types alone, and which device of its node it asks for: bridges, VLANs and addresses are nobody's business. */
function networkWithoutAddresses(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec } = object as Loose
  const { name, namespace, annotations } = metadata
  const key = 'k8s.v1.cni.cncf.io/resourceName'
  const device = annotations?.[key]
  const { config } = spec ?? {}
  const parsed = typeof config === 'string' ? parseJson(config) : undefined
  const plugins = isRecord(parsed) && Array.isArray(parsed['plugins']) ? parsed['plugins'] : undefined
  const kept = { ...typeOf(parsed), ...(plugins && { plugins: plugins.map(typeOf) }) }
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(device !== undefined && { annotations: { [key]: device } }),
    },
    spec: isRecord(parsed) ? { config: JSON.stringify(kept) } : {},
  } as Loose
}

/** What releases break or take away is judged by these (`vmTraits`): no serial number, no MAC address. */
function bareDomain(domain: Json): Json {
  const { firmware, devices, ...rest } = without(domain, 'chassis')
  const { bootloader, kernelBoot } = { ...(firmware as Json | undefined) }
  const { interfaces, filesystems, logSerialConsole } = { ...(devices as Json | undefined) }
  const boots = {
    ...(isRecord(bootloader) && { bootloader: 'efi' in bootloader ? { efi: {} } : {} }),
    ...(isRecord(kernelBoot) && { kernelBoot: 'container' in kernelBoot ? { container: {} } : {} }),
  }
  const kept = {
    ...(Array.isArray(interfaces) && { interfaces: interfaces.map((one) => bareInterface(one as Json)) }),
    ...(Array.isArray(filesystems) && { filesystems: filesystems.map(() => ({})) }),
    ...(typeof logSerialConsole === 'boolean' && { logSerialConsole }),
  }
  return {
    ...rest,
    ...(Object.keys(boots).length > 0 && { firmware: boots }),
    ...(Object.keys(kept).length > 0 && { devices: kept }),
  }
}

/** Its binding alone. */
function bareInterface(one: Json): Json {
  const kept = Object.entries(one).filter(([, value]) => isRecord(value))
  return Object.fromEntries(kept.map(([key]) => [key, {}]))
}

function bareVolume(volume: Json): Json {
  const kept = Object.entries(volume).map(([key, value]) => {
    if (typeof value === 'string') return [key, value]
    return [key, isRecord(value) && value['hotpluggable'] === true ? { hotpluggable: true } : {}]
  })
  return Object.fromEntries(kept) as Json
}

/** Without what says whose cluster it is. */
function clusterVersionWithoutId(object: KubeObject): KubeObject {
  const { clusterID: _, ...spec } = (object as Loose).spec ?? {}
  return { ...object, spec } as Loose
}

/** How often and until when, not by whom. */
function countWithoutUsers(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status = {} } = object as Loose
  const { removedInRelease, requestCount } = status
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name },
    status: { removedInRelease, requestCount },
  } as Loose
}

function operatorWithoutObjects(object: KubeObject): KubeObject {
  const { relatedObjects: _, extension: _also, ...status } = (object as Loose).status ?? {}
  return { ...object, status } as Loose
}

interface Tag {
  key?: string
}

/** How it is built and whether somebody else manages it; no addresses, no names. */
function topologyOnly(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status = {} } = object as Loose
  const { controlPlaneTopology, infrastructureTopology, platform } = status
  const { type, aws, gcp } = (status['platformStatus'] ?? {}) as {
    type?: string
    aws?: { resourceTags?: Tag[] }
    gcp?: { resourceLabels?: Tag[] }
  }
  const platformStatus = {
    type,
    ...(aws?.resourceTags && { aws: { resourceTags: aws.resourceTags.filter(isManagers) } }),
    ...(gcp?.resourceLabels && { gcp: { resourceLabels: gcp.resourceLabels.filter(isManagers) } }),
  }
  return {
    apiVersion,
    kind,
    metadata,
    status: { controlPlaneTopology, infrastructureTopology, platform, platformStatus },
  } as Loose
}

const isManagers = ({ key = '' }: Tag): boolean => key.startsWith('red-hat-')

const csvSpec = new Set([
  'version',
  'replaces',
  'skips',
  'displayName',
  'installModes',
  'relatedImages',
  'minKubeVersion',
])
const csvAnnotations = /^(olm\.|operatorframework\.io\/|operators\.operatorframework\.io\/)/

/** Without icon, descriptions, examples and the permissions, which are most of its size. */
function csvWithoutTexts(object: KubeObject): KubeObject {
  const { metadata, spec = {} } = object as Loose
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => csvAnnotations.test(key))
  const kept = Object.entries(spec).filter(([key]) => csvSpec.has(key))
  return {
    ...object,
    metadata: { ...metadata, annotations: Object.fromEntries(annotations) },
    spec: Object.fromEntries(kept),
  } as Loose
}

interface Step {
  resource?: Json
}

/** Without manifests: a Secret may be among them. */
function planWithoutManifests(object: KubeObject): KubeObject {
  const { plan, bundleLookups: _, ...status } = ((object as Loose).status ?? {}) as Json & { plan?: Step[] }
  const steps = plan?.map(withoutManifest)
  return { ...object, status: { ...status, ...(steps && { plan: steps }) } } as Loose
}

function withoutManifest({ resource, ...step }: Step): Step {
  const { manifest: _, ...named } = resource ?? {}
  return { ...step, resource: named }
}

interface Channel {
  currentCSVDesc?: { version?: string; annotations?: Record<string, string> }
}

/** Without icon, descriptions and examples of every channel. */
function packageWithoutTexts(object: KubeObject): KubeObject {
  const { catalogSource, catalogSourceNamespace, packageName, defaultChannel, channels } = ((object as Loose)
    .status ?? {}) as Json & { channels?: Channel[] }
  return {
    ...object,
    status: {
      catalogSource,
      catalogSourceNamespace,
      packageName,
      defaultChannel,
      ...(channels && { channels: channels.map(bareChannel) }),
    },
  } as Loose
}

function bareChannel({ currentCSVDesc = {}, ...channel }: Channel): Channel {
  const { version, annotations = {} } = currentCSVDesc
  const kept = Object.entries(annotations).filter(([key]) => key.startsWith('olm.'))
  return {
    ...channel,
    currentCSVDesc: { ...(version !== undefined && { version }), annotations: Object.fromEntries(kept) },
  }
}
