import {
  type KubeVirt,
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
} from '../kube/kinds/kubevirt-kinds.ts'
import { condition } from '../kube/object.ts'
import { outdatedLabel, type Snapshot, takeSnapshot } from '../kubevirt/snapshot.ts'
import type { Override } from '../engine/journal.ts'
import { clusterEvictionOf, type Selection } from './vm.ts'
import type { Reader } from '../kube/cluster.ts'
import { type Node, Nodes } from '../kube/kinds/core-kinds.ts'
import { launcherArgument, launcherImage, newControllerLeads } from '../kubevirt/lease-holders.ts'
import { notOne, parseImage } from '../kubevirt/installation.ts'
import { itemsOf, known } from '../kube/known.ts'
import type { Clock } from '../kube/clock.ts'
import { isFinished, type Migration, migrationOf, vmOf } from './migrations/migration.ts'
import type { Releases } from '../releases/releases.ts'
import { methodsOf } from './update-methods.ts'
import { compareVersions, minorOf, type Version, versionOf } from '../releases/release-versions.ts'

/** What KubeVirt's own workload updater will do to an outdated VMI. `restart`: it runs a newer virt-launcher, which only a restart by a person takes back. */
export type VmOutcome = 'migrates' | 'restarts' | 'shuts down' | 'is lost' | 'restart' | 'stays'

/** How many meet which outcome; who needs a restart is counted where there is one. */
export type OutcomeCounts = Record<Exclude<VmOutcome, 'restart'>, number> & Partial<Record<'restart', number>>

/** What the workload updater decides by (facts 3.2, 3.4 and 3.5). `runStrategy` is that of the VM behind it; undefined for a bare VMI. */
export function outcomeOf(
  vmi: VirtualMachineInstance,
  rules: UpdateRules,
  runStrategy: string | undefined,
): VmOutcome {
  const decision = decisionOf(vmi, rules)
  if (takesRestart(vmi, decision, rules)) return 'restart'
  if (decision === 'migrate' || decision === 'migrate-volumes' || decision === 'evacuate') return 'migrates'
  return decision === 'shut-down' ? afterShutdown(vmi, runStrategy) : 'stays'
}

/** The release of its virt-launcher, where its image tells, if that is newer than what VMs are to run. */
export function newerLauncher(
  { status }: VirtualMachineInstance,
  { installs }: Pick<UpdateRules, 'installs'>,
): Version | undefined {
  const [runs, wanted] = [parseImage(status?.launcherContainerImageVersion ?? '').tag, installs].map((one) =>
    versionOf(one),
  )
  return runs && wanted && compareVersions(runs, wanted) > 0 ? runs : undefined
}

/** A migration to an older QEMU fails (night U4): whatever the methods are, but for an eviction that ends it, it stays until it is restarted. */
export const takesRestart = (
  vmi: VirtualMachineInstance,
  decision: Decision,
  rules: Pick<UpdateRules, 'installs'>,
): boolean => decision !== 'shut-down' && newerLauncher(vmi, rules) !== undefined

/** Only runStrategy Always starts a VM again (facts 3.4); sets and pools replace a VMI that is gone. */
export function afterShutdown(vmi: VirtualMachineInstance, runStrategy: string | undefined): VmOutcome {
  if (runStrategy === 'Always') return 'restarts'
  if (runStrategy !== undefined) return 'shuts down'
  const owner = vmi.metadata.ownerReferences?.find((o) => o.controller === true)
  return owner === undefined || owner.kind === 'VirtualMachine' ? 'is lost' : 'restarts'
}

/**
 * What the workload updater, and after it the eviction webhook, decide: `migrate`, `migrate-volumes` and `evacuate` move it, `shut-down`
 * lets its pod die, the others leave it where it is.
 */
export type Decision =
  | 'migrate'
  | 'migrate-volumes'
  | 'evacuate'
  | 'shut-down'
  | 'no-methods'
  | 'evict-off'
  | 'denied'
  | 'external'

/** Those that give it the new launcher without an interruption. */
export const moves: ReadonlySet<Decision> = new Set(['migrate', 'migrate-volumes', 'evacuate'])

/** What the workload updater does with a VMI: the choice of the method (facts 3.2) and what an eviction becomes (facts 3.4). Missing and Unknown LiveMigratable are "no". */
export function decisionOf(vmi: VirtualMachineInstance, rules: UpdateRules): Decision {
  const migratable = condition(vmi, 'LiveMigratable')?.status === 'True'
  if (rules.methods.includes('LiveMigrate')) {
    if (migratable) return 'migrate'
    if (movesItsVolumes(vmi)) return 'migrate-volumes'
  }
  if (rules.methods.includes('Evict')) return evictionOf(effectiveEviction(vmi, rules), migratable)
  return rules.methods.includes('LiveMigrate') ? 'evict-off' : 'no-methods'
}

/** The VMI's own strategy, else the cluster's, else None (facts 1.3). */
export const effectiveEviction = (
  { spec }: VirtualMachineInstance,
  { clusterEviction }: Pick<UpdateRules, 'clusterEviction'>,
): string => spec?.evictionStrategy ?? clusterEviction ?? 'None'

function evictionOf(strategy: string, migratable: boolean): Decision {
  if (strategy === 'External') return 'external'
  if (strategy === 'LiveMigrate') return migratable ? 'evacuate' : 'denied'
  return strategy === 'LiveMigrateIfPossible' && migratable ? 'evacuate' : 'shut-down'
}

/**
 * Volumes are on their way to other claims, nothing but its storage keeps it from migrating, and every disk that only one node can
 * mount is among them (KV:pkg/virt-controller/watch/volume-migration, ValidateVolumesUpdateMigration).
 */
function movesItsVolumes(vmi: VirtualMachineInstance): boolean {
  const { migratedVolumes = [], volumeStatus = [] } = vmi.status ?? {}
  if (migratedVolumes.length === 0 || condition(vmi, 'StorageLiveMigratable')?.status === 'False')
    return false
  const moved = new Set(migratedVolumes.map(({ volumeName }) => volumeName))
  return volumeStatus.every(
    ({ name, persistentVolumeClaimInfo: claim }) =>
      !isOneNodeOnly(claim && (claim.accessModes ?? [])) || moved.has(name) || isVmState(name),
  )
}

/** TPM and EFI state has a claim of its own, which follows in another way. */
const isVmState = (name = '') => name.startsWith('persistent-state-for')

const shared = new Set(['ReadWriteMany', 'ReadOnlyMany'])

function isOneNodeOnly(accessModes: readonly string[] | undefined): boolean {
  return accessModes !== undefined && !accessModes.some((mode) => shared.has(mode))
}

/** Why KubeVirt's workload updater counts a VMI among the outdated ones. */
export type Due = 'launcher' | 'hotplug' | 'volumes'

const aborted = 'kubevirt.io/testWorkloadUpdateMigrationAbortion'

/**
 * KubeVirt's getUpdateData (facts 3.2): what `status.outdatedVirtualMachineInstanceWorkloads` counts. Undefined: nothing is to be done, or it is
 * not running. `launcher` is the image of virt-controller's `--launcher-image`; undefined: the label is asked instead.
 */
export function dueFor(vmi: VirtualMachineInstance, launcher: string | undefined): Due | undefined {
  if (vmi.status?.phase !== 'Running' || vmi.metadata.deletionTimestamp !== undefined) return undefined
  if (runsAnother(vmi, launcher)) return 'launcher'
  if (isMigrating(vmi) || vmi.metadata.annotations?.[aborted] !== undefined) return undefined
  if (waitsForHotplug(vmi)) return 'hotplug'
  return holds(vmi, 'VolumesChange') ? 'volumes' : undefined
}

/** An empty field means "not outdated": right after a migration it is not known yet. */
function runsAnother({ metadata, status }: VirtualMachineInstance, launcher: string | undefined): boolean {
  if (launcher === undefined) return Object.hasOwn(metadata.labels ?? {}, outdatedLabel)
  const runs = status?.launcherContainerImageVersion ?? ''
  return runs !== '' && runs !== launcher
}

/** HotVCPUChange counts whatever its status is. */
const waitsForHotplug = (vmi: VirtualMachineInstance): boolean =>
  condition(vmi, 'HotVCPUChange') !== undefined ||
  holds(vmi, 'HotMemoryChange') ||
  holds(vmi, 'MigrationRequired')

const holds = (vmi: VirtualMachineInstance, type: string) => condition(vmi, type)?.status === 'True'

/** Its migration has begun and not ended; a Pending one is not seen here (facts 3.7). */
export function isMigrating({ status }: VirtualMachineInstance): boolean {
  const { startTimestamp, endTimestamp } = status?.migrationState ?? {}
  return startTimestamp !== undefined && endTimestamp === undefined
}

/** What decides over an outdated VMI. */
export interface UpdateRules {
  methods: readonly string[]
  /** `configuration.evictionStrategy`; a VMI's own was frozen at its creation (facts 1.3). */
  clusterEviction: string | undefined
  /** The version whose virt-launcher VMs are to run; undefined: not known, and none is newer. */
  installs?: string | undefined
}

/** The cluster as far as it decides over a VMI. What is left out is not known, and nothing is claimed of it. */
export interface OutlookRules extends UpdateRules {
  /** Target and observed differ: nothing is moved before the update is over (facts 3.2). */
  updating?: boolean
  /** How many nodes take VMs; on one alone nothing can migrate (facts 3.3). */
  nodes?: number
  /** For what the methods are borrowed, where they are: its end gives them back. */
  paused?: Pick<Override, 'procedure'> | undefined
  /** The VMs that were asked for: what helps one of them is to move no others. */
  asked?: Selection
  /** Unfinished migrations by their VMI, `namespace/name`, whoever made them. */
  migrating?: ReadonlyMap<string, Moving>
  /** Of what was read: since when a migration runs is told as of then. */
  at?: Date
  /** VMs may not be read: whether one comes back is not known. */
  vmsUnread?: boolean
  /** What is known of a launcher image (night W9). */
  launcher?: (image: string) => Launcher
}

/** An unfinished migration, as far as it tells how it gets on. */
export type Moving = Pick<Migration, 'namespace' | 'name' | 'phase' | 'since'>

/** On one node every migration fails (facts 3.3); where their number is not known there are enough. */
export const isAlone = ({ nodes }: OutlookRules): boolean => nodes !== undefined && nodes < 2

/** What lies around the outdated VMIs and decides over them. */
export interface UpdaterContext {
  /** Undefined: it may not be read; `remarks` say so. */
  kubevirt?: KubeVirt
  /** The launcher of new pods. */
  launcher?: string
  /** RFC 3339: since when new pods get it. Before that nobody was outdated because of it. */
  launcherSince?: string
  /** Target and observed differ, or no virt-controller of the target leads yet: labels and counts are not true yet (facts 3.2, lab 10, 15). */
  updating: boolean
  /** Undefined: not known. */
  nodes?: number
  migrating: ReadonlyMap<string, Moving>
  /** Without these nothing can be said of what becomes of a VM. */
  unread: readonly { what: string; why: string }[]
  /** What else could not be read, and what is therefore not said. */
  remarks: readonly string[]
}

/** Reads it in two round trips, or in one where KubeVirt's own namespace, `home`, is known. Throws `blocked` where there is no KubeVirt, or several, and what the Reader throws for anything but 403 and 404. */
export const readContext = async (
  reader: Reader,
  clock: Pick<Clock, 'now'>,
  namespace: string | undefined,
  home?: string,
): Promise<UpdaterContext> => readAround(reader, clock, { home, moving: unfinished(reader, namespace) })

/** The same, for who knows already which VMs are `moving`. Throws as `readSurroundings` does. */
export async function readAround(
  reader: Reader,
  clock: Pick<Clock, 'now'>,
  { home, moving }: { home?: string | undefined; moving: Promise<Migration[]> },
): Promise<UpdaterContext> {
  const [snapshot, nodes, migrating] = await Promise.all([
    takeSnapshot(reader, ['pods', 'leases', 'replicaSets'], clock, home),
    known(nodesForVms(reader)),
    known(moving),
  ])
  const [kubevirt] = theOne(snapshot)
  const launcher = launcherImage(snapshot)
  const launcherSince = launcher && sinceWhen(snapshot, launcher)
  return {
    ...(kubevirt && { kubevirt }),
    ...(launcher && { launcher }),
    ...(launcherSince && { launcherSince }),
    ...(nodes.known && { nodes: nodes.items.length }),
    updating: kubevirt !== undefined && (isUpdating(kubevirt) || newControllerLeads(snapshot) === false),
    migrating: new Map(itemsOf(migrating).map((one) => [vmOf(one), one])),
    ...notKnown(snapshot, [
      ['whether there are enough nodes to migrate', nodes],
      ['which already migrate', migrating],
    ]),
  }
}

/** Without the KubeVirt CR nothing is said, so that the rest need not be excused. */
function notKnown(
  { kubevirts }: Snapshot,
  parts: readonly (readonly [what: string, part: { known: true } | { known: false; why: string }])[],
): Pick<UpdaterContext, 'unread' | 'remarks'> {
  if (!kubevirts.known) return { unread: [{ what: 'kubevirts', why: kubevirts.why }], remarks: [] }
  const remarks = parts.flatMap(([what, part]) => (part.known ? [] : [`${what} is unknown: ${part.why}`]))
  return { unread: [], remarks }
}

function theOne({ kubevirts }: Snapshot): readonly KubeVirt[] {
  const [first, second] = itemsOf(kubevirts)
  if (kubevirts.known && first === undefined) throw notOne({ is: 'none' })
  if (first && second) {
    const found = [first, second].map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))
    throw notOne({ is: 'several', found })
  }
  return first ? [first] : []
}

/** KV:pkg/virt-controller/watch/workload-updater, execute: its gate. */
function isUpdating({ status }: KubeVirt): boolean {
  return status?.phase !== 'Deployed' || status.observedDeploymentID !== status.targetDeploymentID
}

function sinceWhen({ replicaSets }: Snapshot, launcher: string): string | undefined {
  return itemsOf(replicaSets)
    .filter((set) => (set.spec?.replicas ?? 0) > 0 && launcherArgument(set) === launcher)
    .map(({ metadata }) => metadata.creationTimestamp)
    .find((time) => time !== undefined)
}

/** Two are as good as two hundred. */
async function nodesForVms(reader: Reader): Promise<Node[]> {
  const found: Node[] = []
  for await (const { items } of reader.pages(Nodes, { labels: 'kubevirt.io/schedulable=true' })) {
    for (const node of items) if (node.spec?.unschedulable !== true) found.push(node)
    if (found.length > 1) return found
  }
  return found
}

async function unfinished(reader: Reader, namespace: string | undefined): Promise<Migration[]> {
  const found: Migration[] = []
  for await (const { items } of reader.pages(VirtualMachineInstanceMigrations, { namespace }))
    for (const migration of items.map(migrationOf)) if (!isFinished(migration)) found.push(migration)
  return found
}

/** What decides here, or undefined where the KubeVirt CR may not be read: then nothing is claimed. `paused`: the override of the methods. */
export function rulesFrom(
  { kubevirt, launcher, updating, nodes, migrating }: UpdaterContext,
  {
    paused,
    asked,
    releases,
    at,
  }: { paused?: Override | undefined; asked?: Selection; releases: Releases; at: Date },
): OutlookRules | undefined {
  if (kubevirt === undefined) return undefined
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    methods: methodsOf(kubevirt),
    clusterEviction: clusterEvictionOf(kubevirt),
    updating,
    paused,
    migrating,
    at,
    installs: version,
    ...(asked !== undefined && { asked }),
    launcher: launchersOf({ image: launcher, version }, releases, at),
    ...(nodes !== undefined && { nodes }),
  }
}

/** What is known of a launcher image (night W9). */
export interface Launcher {
  /** `v1.7.2`; undefined where the image does not tell. */
  version?: string | undefined
  /** The one that new pods get. */
  inUse: boolean
  /** Its release is more than a year old. */
  old: boolean
}

interface Installed {
  /** Of virt-controller's `--launcher-image`; undefined: not seen. */
  image: string | undefined
  /** Of KubeVirt: tells the version of that image where it is a digest. */
  version: string | undefined
}

const year = 365 * 86_400_000

/** Tells of each image what is known, once per image: thousands of VMIs share a few. */
export function launchersOf(
  { image, version }: Installed,
  { minors }: Releases,
  at: Date,
): (image: string) => Launcher {
  const launchers = new Map<string, Launcher>()
  const launcherOf = (asked: string): Launcher => {
    const inUse = asked === image
    const release = versionOf(inUse ? version : parseImage(asked).tag)
    const day = release && minors[minorOf(release)]?.releases[release.text]
    const old = day !== undefined && at.getTime() - Date.parse(day) > year
    return { version: release?.text, inUse, old }
  }
  return (asked) => {
    const found = launchers.get(asked) ?? launcherOf(asked)
    launchers.set(asked, found)
    return found
  }
}
