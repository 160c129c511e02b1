import type { Cluster, Reader, ServerVersion, Where } from '../kube/cluster.ts'
import {
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  type Job,
  Jobs,
  type Pod,
  Pods,
  type ReplicaSet,
  ReplicaSets,
} from '../kube/kinds/workload-kinds.ts'
import { type Event, Events, type Lease, Leases, type Node, Nodes } from '../kube/kinds/core-kinds.ts'
import {
  type KubeVirt,
  KubeVirts,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
  VirtualMachines,
} from '../kube/kinds/kubevirt-kinds.ts'
import type { Clock } from '../kube/clock.ts'
import { isOperand, isOperator, operatorName, podsOutsideVms } from './installed-components.ts'
import { itemsOf, type Known, known, notAsked, onlyKnown, readParts } from '../kube/known.ts'
import { atVersion, condition, isRecord, metadataOf } from '../kube/object.ts'
import { ApiError, forbidden, isNotFound, type KvupError } from '../kube/errors.ts'
import { readAhead } from '../kube/read-cache.ts'
import type { VmTally } from './full-snapshot.ts'
import { quantity } from '../kube/quantity.ts'
import { type NarrowedCommand, narrowedLine, roleRemedy } from '../output/kvup-words.ts'
import type { CommandContext } from '../kube/world.ts'
import type { Needed, PassedOver, SavedCluster } from '../kube/saved/saved-cluster.ts'
import { type VmTrait, traitNames, vmTraits } from './vm-traits.ts'
import { valueAt } from '../kube/server-side-apply.ts'

/** What was seen of an installation, as plain JSON. Every part is known or not; the judgements over it are pure. */
export interface Snapshot {
  /** RFC 3339. */
  takenAt: string
  serverVersion?: ServerVersion
  kubevirts: Known<KubeVirt>
  /** The virt-operator Deployments. */
  operators: Known<Deployment>
  /** What virt-operator manages; its own Deployment is in `operators`. */
  deployments: Known<Deployment>
  daemonsets: Known<DaemonSet>
  /** Of KubeVirt's namespace: a pod belongs to a Deployment by its ReplicaSet. */
  replicaSets: Known<ReplicaSet>
  /** Of KubeVirt's namespace, those of VMs excepted: whose they are tells who controls them, no label (`podsOf`). */
  pods: Known<Pod>
  /** Install-strategy Jobs. */
  jobs: Known<Job>
  leases: Known<Lease>
  nodes: Known<Node>
  /** Warnings in KubeVirt's namespace. */
  events: Known<Event>
  /** Unfinished ones, of every namespace. */
  migrations: Known<VirtualMachineInstanceMigration>
  /** One item. */
  workloads: Known<WorkloadCount>
}

type Always = 'takenAt' | 'kubevirts' | 'operators' | 'deployments'
export type Part = Exclude<keyof Snapshot, Always>

/** What `assessRollout` judges by. */
export const statusParts: readonly Part[] = ['daemonsets', 'replicaSets', 'pods', 'jobs', 'leases']
/** What it names causes with, when something is not as it should be. */
export const causeParts: readonly Part[] = ['nodes', 'events']

/**
 * Reads the wanted parts in parallel, only in KubeVirt's namespace where that is enough; KubeVirts and Deployments
 * always. Two round trips, or one where `namespace` is known from an earlier look. It was taken when the KubeVirts were there:
 * before the first answer nobody knows the cluster's time. A 403 or 404 makes a part unknown, any other ApiError is thrown.
 */
export async function takeSnapshot(
  reader: Reader,
  wants: readonly Part[],
  clock: Pick<Clock, 'now'>,
  namespace?: string,
): Promise<Snapshot> {
  const listed = listKubeVirts(reader)
  const everywhere = clusterWide(reader, wants)
  // Awaited last; an early failure of it must not go unhandled until then.
  everywhere.catch(() => undefined)
  const home = namespace ?? homeOf(await listed)
  const [{ kubevirts, takenAt }, deployments, narrow, wide] = await Promise.all([
    listed.then((found) => ({ kubevirts: found, takenAt: clock.now().toISOString() })),
    known(reader.list(Deployments, home === undefined ? { name: operatorName } : { namespace: home })),
    home === undefined ? {} : inNamespace(reader, wants, home),
    everywhere,
  ])
  return {
    ...nothing,
    ...wide,
    ...narrow,
    takenAt,
    kubevirts,
    operators: onlyKnown(deployments, isOperator),
    deployments: onlyKnown(deployments, isOperand),
  }
}

/** The same look with more parts, taken now: one round trip. Parts that are there already are not read again. */
export async function withParts(
  reader: Reader,
  snapshot: Snapshot,
  wants: readonly Part[],
): Promise<Snapshot> {
  const home = homeOf(snapshot.kubevirts)
  const [wide, narrow] = await Promise.all([
    clusterWide(reader, wants),
    home === undefined ? {} : inNamespace(reader, wants, home),
  ])
  return { ...snapshot, ...wide, ...narrow }
}

type Parts = Partial<Snapshot>

/** The namespace of KubeVirt; of several, that of the one that a virt-operator follows. */
export function homeOf(kubevirts: Known<KubeVirt>): string | undefined {
  const items = itemsOf(kubevirts)
  return (items.find((kv) => kv.status?.operatorVersion) ?? items[0])?.metadata.namespace
}

const nothing = {
  daemonsets: notAsked,
  replicaSets: notAsked,
  pods: notAsked,
  jobs: notAsked,
  leases: notAsked,
  nodes: notAsked,
  events: notAsked,
  migrations: notAsked,
  workloads: notAsked,
} as const

function inNamespace(reader: Reader, wants: readonly Part[], namespace: string): Promise<Parts> {
  return readParts(wants, {
    daemonsets: async () => (await reader.list(DaemonSets, { namespace })).filter(isOperand),
    replicaSets: () => reader.list(ReplicaSets, { namespace }),
    pods: () => reader.list(Pods, { namespace, labels: podsOutsideVms }),
    jobs: () => reader.list(Jobs, { namespace, labels: 'kubevirt.io/install-strategy' }),
    leases: () => reader.list(Leases, { namespace }),
    events: () => reader.list(Events, { namespace, fields: 'type=Warning' }),
  })
}

async function clusterWide(reader: Reader, wants: readonly Part[]): Promise<Parts> {
  const [parts, serverVersion] = await Promise.all([
    readParts(wants, {
      nodes: () => reader.list(Nodes),
      migrations: () => unfinishedMigrations(reader),
      workloads: async () => [await countWorkloads(reader)],
    }),
    wants.includes('serverVersion') ? reader.version() : undefined,
  ])
  return serverVersion ? { ...parts, serverVersion } : parts
}

/** Every KubeVirt CR, read as v1 or, where that is not served yet, as v1alpha3 (night U7). None where neither is served. */
export const listKubeVirts = (reader: Reader): Promise<Known<KubeVirt>> => known(listServed(reader))

async function listServed(reader: Reader): Promise<readonly KubeVirt[]> {
  for (const version of ['v1', 'v1alpha3']) {
    try {
      return await reader.list(atVersion(KubeVirts, version))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  return []
}

/** Whoever made it, and in whatever phase: only Succeeded and Failed are ends. */
export function isUnfinished(migration: VirtualMachineInstanceMigration): boolean {
  const phase = migration.status?.phase
  return phase !== 'Succeeded' && phase !== 'Failed'
}

/** Of every namespace, folded page by page. Throws ApiError. */
export async function unfinishedMigrations(reader: Reader): Promise<VirtualMachineInstanceMigration[]> {
  const found: VirtualMachineInstanceMigration[] = []
  for await (const page of reader.pages(VirtualMachineInstanceMigrations))
    found.push(...page.items.filter(isUnfinished))
  return found
}

/** What the checks ask of all VMIs, folded page by page: nothing of a VMI is kept but its name, and that of a hundred. */
export interface InstanceTally {
  total: number
  running: number
  /** VMIs that were created and do not run yet, `namespace/name`, with since when at least (RFC 3339). */
  waiting: Map<string, string>
  outdated: number
  /** By launcher image; VMIs that do not say are not in it. */
  launchers: Record<string, number>
  /** With the reason of LiveMigratable=False; Unknown and absent count too (facts 3.2). */
  notMigratable: Named
  /** Being moved off a drained node. */
  evacuating: Named
  /** The same VMs by the node that they leave (`status.evacuationNodeName`). */
  evacuatingFrom: Record<string, Named>
  /** What running VMs ask of a node by labels, each demand of a node once; VMs that ask nothing are not in it. */
  placed: Map<string, PlacedVms>
  /** Running VMs by their evictionStrategy, empty where they leave it to KubeVirt. */
  evictionStrategies: Record<string, Named>
  /** Hotplug and volume changes that workload updates would carry out (facts 5). */
  pendingChanges: Named
  /** More than one active pod, and no migration that explains it (data-corruption rule; facts 8). */
  twoLaunchers: Named
  /** The guest's file systems are frozen. */
  frozen: Named
  /** Over 47 characters: names of migration pods get too long. */
  longNames: Named
  nodes: Record<string, number>
  /** Running VMs by what a release breaks or takes away. */
  traits: Partial<Record<VmTrait, Named>>
  /** The same by the launcher image that they run on, empty where a VMI does not say. */
  traitsOn: Record<string, Partial<Record<VmTrait, Named>>>
  /** Running VMs by the machine type that their spec asks for. */
  machineTypes: Map<string, Named>
  /** Running VMs by their networks of Multus: the NetworkAttachmentDefinition, `namespace/name`. */
  networks: Map<string, Named>
  /** Volumes that were hotplugged into running VMs, `namespace/name/volume`: all of them, for they are compared with those of the VMs. */
  hotplugged: Set<string>
  /** By namespace: the guest memory of the largest running VMI in bytes, without huge pages; its pod asks for more. */
  largestMemory: Record<string, number>
}

export function emptyTally(): InstanceTally {
  return {
    total: 0,
    running: 0,
    waiting: new Map(),
    outdated: 0,
    launchers: {},
    notMigratable: nobody(),
    evacuating: nobody(),
    evacuatingFrom: {},
    placed: new Map(),
    evictionStrategies: {},
    pendingChanges: nobody(),
    twoLaunchers: nobody(),
    frozen: nobody(),
    longNames: nobody(),
    traits: {},
    traitsOn: {},
    machineTypes: new Map(),
    networks: new Map(),
    hotplugged: new Set(),
    nodes: {},
    largestMemory: {},
  }
}

const pending = ['HotVCPUChange', 'HotMemoryChange', 'VolumesChange', 'MigrationRequired']
const nameAtMost = 47

/** Adds one VMI. */
export function tallyInstance(tally: InstanceTally, vmi: VirtualMachineInstance): void {
  const name = `${vmi.metadata.namespace}/${vmi.metadata.name}`
  tally.total++
  if (vmi.metadata.labels && outdatedLabel in vmi.metadata.labels) tally.outdated++
  if (vmi.metadata.name.length > nameAtMost) add(tally.longNames, name)
  const { phase = '' } = vmi.status ?? {}
  if (phase === 'Running') tallyRunning(tally, vmi, name)
  else if (!endedPhases.has(phase) && vmi.metadata.deletionTimestamp === undefined)
    tally.waiting.set(name, idleSince(vmi))
}

/** KubeVirt says with a condition since when a VMI is not ready. */
function idleSince(vmi: VirtualMachineInstance): string {
  const ready = condition(vmi, 'Ready')
  return (ready?.status === 'False' && ready.lastTransitionTime) || (vmi.metadata.creationTimestamp ?? '')
}

const endedPhases: ReadonlySet<string> = new Set(['Succeeded', 'Failed'])

function tallyRunning(tally: InstanceTally, vmi: VirtualMachineInstance, name: string): void {
  const { launcherContainerImageVersion, nodeName, evacuationNodeName } = vmi.status ?? {}
  tally.running++
  addOne(tally.launchers, launcherContainerImageVersion)
  addOne(tally.nodes, nodeName)
  const { namespace = '' } = vmi.metadata
  tally.largestMemory[namespace] = Math.max(tally.largestMemory[namespace] ?? 0, guestMemory(vmi))
  const migratable = condition(vmi, 'LiveMigratable')
  if (migratable?.status !== 'True')
    add(tally.notMigratable, `${name} (${migratable?.reason ?? 'not judged yet'})`)
  for (const [list, holds] of marks) if (holds(vmi)) add(tally[list], name)
  if (evacuationNodeName) addBy(tally.evacuatingFrom, evacuationNodeName, name)
  addBy(tally.evictionStrategies, vmi.spec?.evictionStrategy ?? '', name)
  for (const volume of hotpluggedIn(vmi.spec)) tally.hotplugged.add(`${name}/${volume}`)
  tallyTraits(tally, vmi, name)
  tallyPlace(tally, vmi, name)
  tallyDevices(tally, vmi, name)
}

function tallyDevices(tally: InstanceTally, vmi: VirtualMachineInstance, name: string): void {
  const machine = valueAt(vmi.spec, ['domain', 'machine', 'type'])
  if (typeof machine === 'string' && machine !== '') addTo(tally.machineTypes, machine, name)
  for (const network of networksOf(vmi)) addTo(tally.networks, network, name)
}

/** The NetworkAttachmentDefinitions that it is connected to, each once as `namespace/name`: a name alone is one of the VM's namespace. */
function networksOf({ metadata: { namespace = '' }, spec }: VirtualMachineInstance): ReadonlySet<string> {
  const networks = valueAt(spec, ['networks'])
  const names = (Array.isArray(networks) ? networks : []).map((one) =>
    valueAt(one, ['multus', 'networkName']),
  )
  const told = names.filter((one) => typeof one === 'string').filter((one) => one !== '')
  return new Set(told.map((one) => (one.includes('/') ? one : `${namespace}/${one}`)))
}

function addTo(by: Map<string, Named>, key: string, name: string): void {
  const named = by.get(key) ?? nobody()
  by.set(key, named)
  add(named, name)
}

function addBy(lists: Record<string, Named>, key: string, name: string): void {
  add((lists[key] ??= nobody()), name)
}

function tallyTraits(tally: InstanceTally, vmi: VirtualMachineInstance, name: string): void {
  const on = (tally.traitsOn[vmi.status?.launcherContainerImageVersion ?? ''] ??= {})
  for (const trait of traitNames.filter((one) => vmTraits[one](vmi)))
    for (const traits of [tally.traits, on]) add((traits[trait] ??= nobody()), name)
}

/** VMs that ask the same of a node, and run on the same one. */
export interface PlacedVms {
  /** Labels that a node must have; a value that is undefined may be any. */
  labels: Readonly<Record<string, string | undefined>>
  node: string
  vms: Named
}

/** In front of the model, on nodes that have it. */
export const cpuModelLabel = 'cpu-model.node.kubevirt.io/'
/** In front of the vendor of a node's CPU. */
export const cpuVendorLabel = 'cpu-vendor.node.kubevirt.io/'
/** In front of each machine type that a node's QEMU has. */
export const machineTypeLabel = 'machine-type.node.kubevirt.io/'

function tallyPlace(tally: InstanceTally, { spec, status }: VirtualMachineInstance, name: string): void {
  const model = valueAt(spec, ['domain', 'cpu', 'model'])
  const isOwn = typeof model === 'string' && !/^host-(?:model|passthrough)$/u.test(model)
  const labels = {
    ...spec?.nodeSelector,
    ...(isOwn && { [`${cpuModelLabel}${model}`]: undefined }),
  }
  if (Object.keys(labels).length === 0) return
  const node = status?.nodeName ?? ''
  const key = JSON.stringify([node, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))])
  const place = tally.placed.get(key) ?? { labels, node, vms: nobody() }
  tally.placed.set(key, place)
  add(place.vms, name)
}

/** Names of the volumes of a VM or VMI that were plugged in while it ran. */
function hotpluggedIn(spec: VirtualMachineInstance['spec']): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, dataVolume }) => {
    const source = persistentVolumeClaim ?? dataVolume
    return isRecord(source) && source['hotpluggable'] === true && typeof name === 'string' ? [name] : []
  })
}

function addOne(by: Record<string, number>, key: string | undefined): void {
  if (key) by[key] = (by[key] ?? 0) + 1
}

type Mark = 'evacuating' | 'pendingChanges' | 'twoLaunchers' | 'frozen'

const marks: readonly (readonly [Mark, (vmi: VirtualMachineInstance) => boolean])[] = [
  ['evacuating', ({ status }) => Boolean(status?.evacuationNodeName)],
  ['pendingChanges', (vmi) => pending.some((type) => condition(vmi, type)?.status === 'True')],
  ['twoLaunchers', (vmi) => Object.keys(vmi.status?.activePods ?? {}).length > 1 && !hasMigrated(vmi)],
  ['frozen', ({ status }) => status?.fsFreezeStatus === 'frozen'],
]

/**
 * Also one that is over: the launcher it left stays listed as long as its Completed pod is there (lab "Workloads" 9; setActivePods in KubeVirt), and
 * the VMI does not tell which of its pods runs.
 */
const hasMigrated = ({ status }: VirtualMachineInstance): boolean =>
  status?.migrationState?.startTimestamp !== undefined

interface FoldedInstances {
  tally: InstanceTally
  /** With at least one VMI. */
  namespaces: ReadonlySet<string>
}

/** Reads every VMI once and keeps none: a page is added up while the next one is on its way. Throws ApiError. */
export async function foldInstances(reader: Reader): Promise<FoldedInstances> {
  const tally = emptyTally()
  const namespaces = new Set<string>()
  const twice: string[] = []
  for await (const { items } of readAhead(reader.pages(VirtualMachineInstances)))
    for (const vmi of items) {
      const { namespace = '', name } = vmi.metadata
      const before = tally.twoLaunchers.count
      tallyInstance(tally, vmi)
      if (tally.twoLaunchers.count > before) twice.push(`${namespace}/${name}`)
      namespaces.add(namespace)
    }
  if (twice.length === 0) return { tally, namespaces }
  return { tally: { ...tally, twoLaunchers: await notToMove(reader, twice) }, namespaces }
}

/** A migration whose target has no node yet stands in no VMI, but has a pod. Where migrations cannot be read, nobody is left out. */
async function notToMove(reader: Reader, names: readonly string[]): Promise<Named> {
  const migrations = await unfinishedMigrations(reader).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    return []
  })
  const moved = new Set(migrations.map(({ metadata, spec }) => `${metadata.namespace}/${spec?.vmiName}`))
  const left = nobody()
  for (const name of names) if (!moved.has(name)) add(left, name)
  return left
}

/** Reads every VM once and keeps the names of a few. Throws ApiError. */
export async function foldVms(reader: Reader): Promise<VmTally> {
  const tally: VmTally = { total: 0, restartRequired: nobody(), hotplugged: new Set() }
  for await (const { items } of readAhead(reader.pages(VirtualMachines)))
    for (const vm of items) {
      tally.total++
      for (const volume of hotpluggedIn(vm.spec?.template?.spec))
        tally.hotplugged.add(`${vm.metadata.namespace}/${vm.metadata.name}/${volume}`)
      if (condition(vm, 'RestartRequired')?.status === 'True')
        add(tally.restartRequired, `${vm.metadata.namespace}/${vm.metadata.name}`)
    }
  return tally
}

/** A few by name, all by number: what is kept of many objects. */
export interface Named {
  count: number
  /** `namespace/name`, with what is to be said of it in brackets; the first `namedAtMost`. */
  names: string[]
}

const namedAtMost = 100

export const nobody = (): Named => ({ count: 0, names: [] })

/** Counts it, and keeps its name while there is room. */
function add(to: Named, name: string): void {
  to.count++
  if (to.names.length < namedAtMost) to.names.push(name)
}

/** What the guest is given, in bytes: the least that its pod asks for. 0 where it does not say, or has huge pages, which are another resource. */
export function guestMemory({ spec }: VirtualMachineInstance): number {
  const { memory, resources } = (spec?.domain ?? {}) as {
    memory?: { guest?: string; hugepages?: unknown }
    resources?: { requests?: { memory?: string } }
  }
  if (memory?.hugepages) return 0
  return quantity(memory?.guest ?? resources?.requests?.memory) ?? 0
}

export const outdatedLabel = 'kubevirt.io/outdatedLauncherImage'

/**
 * A page behind the first may be read from etcd, where all VMIs have to be looked at to find the labelled ones: 2 to 4 s for 10,000,
 * on an API server (v1.35.4) that had stopped to keep what it had five minutes earlier. Few have as many as this.
 */
const atOnce = 2000

/** The outdated ones. */
export const outdatedOnes: Where = { labels: outdatedLabel, pageSize: atOnce }

interface WorkloadCount {
  /** All VirtualMachineInstances. */
  instances: number
  /** Those that virt-controller has labelled `kubevirt.io/outdatedLauncherImage`. */
  outdated: number
}

const metadataOfInstances = metadataOf(VirtualMachineInstances)

/**
 * Counts without keeping, and without spec and status. One page is counted in passing; of more, the server says how many are left, and
 * the outdated ones are listed by their label. Throws ApiError.
 */
export async function countWorkloads(reader: Reader): Promise<WorkloadCount> {
  let [instances, outdated] = [0, 0]
  for await (const { items, remaining } of reader.pages(metadataOfInstances)) {
    instances += items.length
    outdated += items.filter(({ metadata }) => Object.hasOwn(metadata.labels ?? {}, outdatedLabel)).length
    if (remaining) return { instances: instances + remaining, outdated: await countOutdated(reader) }
  }
  return { instances, outdated }
}

/** How many VMIs there are: of more than one short page the server says how many are left. Throws ApiError. */
export async function countVmis(reader: Reader, namespace?: string): Promise<number> {
  let count = 0
  for await (const { items, remaining } of reader.pages(metadataOfInstances, { namespace, pageSize: 50 })) {
    count += items.length
    if (remaining) return count + remaining
  }
  return count
}

async function countOutdated(reader: Reader): Promise<number> {
  let count = 0
  for await (const { items } of reader.pages(metadataOfInstances, outdatedOnes)) count += items.length
  return count
}

/** What a command that only reads looks at, and the time at which it does. */
export interface ReadCluster {
  /** Of a saved cluster: its Writer refuses, and its Reviewer knows what was asked when it was saved. */
  cluster: Cluster
  clock: Clock
  saved: boolean
  /** Of a folder that was read: what was passed over. */
  passedOver?: readonly PassedOver[]
  /** The files that it is of. */
  files?: readonly string[]
}

/**
 * The live cluster, or the saved one that `--from` names, whose time stands still at the moment when it was saved. Throws what opening
 * a cluster throws; `usage` for files that cannot be used, or hold nothing of what is `needed`.
 */
export async function readerFor(
  cx: Pick<CommandContext, 'cluster' | 'clock' | 'world'>,
  from: string | undefined,
  needed?: Needed,
): Promise<ReadCluster> {
  if (from === undefined) return { cluster: await cx.cluster(), clock: cx.clock, saved: false }
  const { parseSavedCluster, readSaved } = await import('../kube/saved/saved-file.ts')
  const cluster =
    from === '-'
      ? await parseSavedCluster(await cx.world.readStdin(), 'standard input', needed)
      : await readSaved(from, needed)
  return readSavedCluster(cluster, cx.clock)
}

function readSavedCluster(cluster: SavedCluster, running: Clock): ReadCluster {
  const { takenAt = running.now(), passedOver = [], files = [] } = cluster
  const clock: Clock = { now: () => takenAt, sleep: async (ms, signal) => running.sleep(ms, signal) }
  return { cluster, clock, saved: true, passedOver, files }
}

/** The end of a command that could not see all it was asked for: what is readable was done and told by then. Undefined: all of it was. */
export function partlyUnread(unread: readonly { why: string }[] = []): KvupError | undefined {
  const [first, ...more] = unread
  if (first === undefined) return undefined
  const others = more.length === 0 ? '' : `, and ${more.length} more`
  return forbidden('partly-unread', `kvup may not read everything: ${first.why}${others}`, {
    remedy: roleRemedy('kvup-view'),
  })
}

/** Who may not see all namespaces may often see one: with this command, of what was asked for. */
export function oneNamespaceHelps(
  error: unknown,
  command: NarrowedCommand,
  selection: { labels?: string; node?: string } = {},
): unknown {
  if (!(error instanceof ApiError) || error.status !== 403) return error
  const line = narrowedLine(command, { ...selection, namespace: undefined })
  const remedy = [...error.remedy, `${line} -n NAMESPACE     in a namespace that you may read`]
  return forbidden('forbidden', error.message, { remedy, object: error.object, cause: error })
}
