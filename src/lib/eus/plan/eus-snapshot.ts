import { isOfWindow, openOverrides } from '../../engine/overrides.ts'
import type { HyperConverged } from '../../kube/kinds/operator-kinds.ts'
import { type KubeVirt, VirtualMachineInstances } from '../../kube/kinds/kubevirt-kinds.ts'
import {
  ApiRequestCounts,
  type MachineConfigPool,
  type MachineHealthCheck,
  type NodeHealthCheck,
  type NodeMaintenance,
  NodeMaintenances,
  OldNodeMaintenances,
} from '../../kube/kinds/openshift-kinds.ts'
import { type InstanceTally, listKubeVirts } from '../../kubevirt/snapshot.ts'
import { itemsOf, type Known, known, listServed, notAsked } from '../../kube/known.ts'
import { type FiringAlert, firingAlerts } from '../../openshift/firing-alerts.ts'
import {
  assessPlatform,
  type PlatformSnapshot,
  type PlatformStatus,
  takePlatform,
} from '../../openshift/platform-status.ts'
import { flavourOf } from '../../openshift/operator-rules.ts'
import { oldBridgeNetworks } from '../../openshift/layer-parts.ts'
import type { NetworkAttachmentDefinition } from '../../kube/kinds/extension-kinds.ts'
import { releaseOf } from '../../openshift/platform-rules.ts'
import { type LifecycleSnapshot, takeLifecycle } from '../../openshift/olm-status.ts'
import type { Override } from '../../engine/journal.ts'
import { type Forecast, forecastUpdates } from '../../vms/forecast/vm-forecast.ts'
import type { EusHop, EusPlan, HealthCheckRef, PoolToPause, RemovedApi, VmOutage } from './eus-plan.ts'
import type { Cluster, Reader } from '../../kube/cluster.ts'
import { inOnePass, onceCached } from '../../kube/read-cache.ts'
import { takeFullSnapshot } from '../../kubevirt/full-snapshot.ts'
import { getHyperConverged, storedHyperConverged } from '../../openshift/hyperconverged.ts'
import {
  type RecognisedWindow,
  recogniseWindow,
  type Topology,
  topologyOf,
} from '../../openshift/eus-window.ts'
import { compareMinors, minorOfPlatform } from '../../releases/release-versions.ts'
import { type Clock, hours } from '../../kube/clock.ts'
import { blocked, forbidden, isNotFound, KvupError, usageError, orElse } from '../../kube/errors.ts'
import { clusterEvictionOf, lostData, runStrategyOf, vmName, Vms, vmNameOf } from '../../vms/vm.ts'
import { listBlockers } from '../../vms/unblock/unblock-vms.ts'
import type { Kind } from '../../kube/object.ts'
import { managerOf } from '../../kubevirt/installation.ts'
import { isWrittenByKvup } from '../../kube/last-writer.ts'
import { getSettingsOwner, methodsIn, methodsPointer } from '../../vms/strategy/settings-owner.ts'
import { keptMethods, overrideId } from '../../vms/update-methods.ts'
import { afterShutdown } from '../../vms/workload-updater.ts'
import { X509Certificate } from 'node:crypto'
import { ConfigMaps } from '../../kube/kinds/core-kinds.ts'
import type { Releases } from '../../releases/releases.ts'
import type { ChannelChoice, Chosen, Route } from './platform-path.ts'
import type { OperatorPath } from './operator-path.ts'
import { assessPool, type PoolStatus } from '../../openshift/machine-config-pools.ts'
import type { Finding } from '../../checks/check-definition.ts'
import { roleRemedy } from '../../output/kvup-words.ts'

/** All that a plan is made from, as plain data. Every part is known, or not and why. */
export interface EusClusterSnapshot {
  at: Date
  platform: PlatformSnapshot
  lifecycle: LifecycleSnapshot
  hyperconverged: Known<HyperConverged>
  kubevirts: Known<KubeVirt>
  /** Open ones, of any procedure. */
  overrides: Known<Override>
  /** One item: the methods that are set on the HyperConverged, or were before kvup borrowed them. */
  methods: Known<readonly string[]>
  /** They are empty by a write of kvup that no open override tells of: the journal was deleted, or somebody asked kvup for it. */
  emptiedByKvup: boolean
  /** One item. */
  instances: Known<InstanceTally>
  /** One item: what becomes of the VMs when the methods are given back at the end. */
  forecast: Known<Forecast>
  /** VMs whose eviction is denied for ever: `namespace/name`. */
  undrainable: Known<string>
  /** What becomes of each running VM while its only node reboots. Asked for on a single node only. */
  outages: Known<VmOutage>
  /** APIs that some later Kubernetes lacks, and that were asked for in the last 24 hours. */
  removedApis: Known<RemovedApi>
  /** Of the group that ended with 4.10 (ocp 6.12). */
  oldMaintenances: Known<NodeMaintenance>
  /** Of the standalone operator, which comes after it. */
  maintenances: Known<NodeMaintenance>
  /** Networks of type cnv-bridge only. */
  bridgeNetworks: Known<NetworkAttachmentDefinition>
  /** One item: the newest signer of the certificates that kubelets know the API server by (ocp 3.6). Asked for before 4.14 only. */
  kubeletSigner: Known<{ begins: string; ends: string }>
  /** One item. */
  clusterUid: Known<string>
  /** Asked for where there is a platform. */
  alerts: Known<FiringAlert>
}

/**
 * Everything that a plan is made from, by reading alone. What may not be read (403), is not served (404) or was not saved is an unknown
 * part; any other ApiError is thrown.
 */
export async function readEusCluster(cluster: Cluster, clock: Clock): Promise<EusClusterSnapshot> {
  const reader = onceCached(cluster.reader)
  const platform = takePlatform(reader)
  const [lifecycle, hyperconverged, held, virtualization, about, platformSnapshot] = await Promise.all([
    takeLifecycle(reader),
    getHyperConverged(reader),
    aboutOldKinds(reader),
    aboutVirtualization({ ...cluster, reader }, clock, platform),
    platform.then((found) => aboutPlatform(reader, found)),
    platform,
  ])
  return {
    at: clock.now(),
    platform: platformSnapshot,
    lifecycle,
    hyperconverged,
    ...held,
    ...virtualization,
    ...about,
  }
}

type OldKinds = Pick<EusClusterSnapshot, 'oldMaintenances' | 'maintenances' | 'bridgeNetworks'>

/** What goes away with single minors. */
async function aboutOldKinds(reader: Reader): Promise<OldKinds> {
  const [oldMaintenances, maintenances, bridgeNetworks] = await Promise.all([
    known(listServed(reader, OldNodeMaintenances)),
    known(listServed(reader, NodeMaintenances)),
    oldBridgeNetworks(reader),
  ])
  return { oldMaintenances, maintenances, bridgeNetworks }
}

type Virtualization = Omit<
  EusClusterSnapshot,
  'at' | 'platform' | 'lifecycle' | 'hyperconverged' | keyof OldKinds | keyof Platform
>

/** KubeVirt, what is borrowed of it, and its VMs, which are gone through once. */
async function aboutVirtualization(
  cluster: Cluster,
  clock: Clock,
  platform: Promise<EusClusterSnapshot['platform']>,
): Promise<Virtualization> {
  const { reader } = cluster
  const [kubevirt] = itemsOf(await listKubeVirts(reader))
  const overrides = await overridesIn(cluster.reader, kubevirt?.metadata.namespace)
  const { methods, emptiedByKvup } = await methodsNow(reader, { kubevirt, overrides })
  const isSingle = topologyOf(await platform).is === 'single-node'
  const [snapshot, forecast, undrainable, outages] = await inOnePass(reader, VirtualMachineInstances, [
    (shared) => takeFullSnapshot({ reader: shared }, clock, { only: ['instances', 'clusterUid'] }),
    (shared) => forecastFor(shared, kubevirt, itemsOf(methods)[0] ?? []),
    (shared) => (kubevirt === undefined ? notAsked : known(undrainableIn(shared, kubevirt))),
    (shared) => (isSingle ? known(outagesIn(shared)) : notAsked),
  ])
  const { kubevirts, instances, clusterUid } = snapshot
  return {
    kubevirts,
    overrides,
    methods,
    emptiedByKvup,
    instances,
    clusterUid,
    forecast,
    undrainable,
    outages,
  }
}

async function overridesIn(reader: Reader, namespace: string | undefined): Promise<Known<Override>> {
  if (namespace === undefined) return { known: true, items: [] }
  const found = await openOverrides(reader, namespace)
  return 'overrides' in found ? { known: true, items: found.overrides } : { known: false, why: found.unread }
}

async function forecastFor(
  reader: Reader,
  kubevirt: KubeVirt | undefined,
  methods: readonly string[],
): Promise<EusClusterSnapshot['forecast']> {
  if (kubevirt === undefined) return notAsked
  return known(forecastUpdates(reader, { kubevirt, methods }).then((one) => [one]))
}

async function undrainableIn(reader: Reader, kubevirt: KubeVirt): Promise<readonly string[]> {
  const found = await listBlockers(reader, {
    namespace: undefined,
    clusterEviction: clusterEvictionOf(kubevirt),
  })
  return [...found.vms, ...found.bare].map(vmNameOf)
}

type Platform = Pick<EusClusterSnapshot, 'removedApis' | 'kubeletSigner' | 'alerts'>

async function aboutPlatform(reader: Reader, platform: EusClusterSnapshot['platform']): Promise<Platform> {
  const [cv] = itemsOf(platform.clusterVersion)
  if (cv === undefined) return { removedApis: notAsked, kubeletSigner: notAsked, alerts: notAsked }
  const here = minorOfPlatform(assessPlatform(cv).version ?? '')
  const [removedApis, signer, alerts] = await Promise.all([
    known(removedApisOf(reader)),
    compareMinors(here, '4.14') < 0 ? known(kubeletSigner(reader)) : notAsked,
    firingAlerts(reader),
  ])
  return { removedApis, kubeletSigner: signer, alerts }
}

/**
 * Asks for what only a plan of a window wants of a platform, for a reader that keeps it; what becomes of VMs is judged by what is kept
 * for the others. Throws what the Reader throws for anything but 403 and 404.
 */
export async function takeForWindow(reader: Reader): Promise<void> {
  await Promise.all([
    known(removedApisOf(reader)),
    known(kubeletSigner(reader)),
    known(listServed(reader, OldNodeMaintenances)),
    known(listServed(reader, NodeMaintenances)),
    storedHyperConverged(reader).catch((error: unknown) => {
      if (!(error instanceof KvupError)) throw error
    }),
  ])
}

/** Hundreds of large objects of which two numbers are kept. */
async function removedApisOf(reader: Reader): Promise<readonly RemovedApi[]> {
  const found: RemovedApi[] = []
  for await (const { items } of reader.pages(ApiRequestCounts))
    for (const { metadata, status = {} } of items) {
      const { removedInRelease, requestCount = 0 } = status
      if (removedInRelease && requestCount > 0)
        found.push({ name: metadata.name, removedIn: removedInRelease, requests: requestCount })
    }
  return found
}

/** The window that is open, by what `kvup status` tells it by as well: open overrides of `kvup eus`, or paused pools behind their control plane. Pure. */
export const windowIn = ({
  platform,
  overrides,
}: Pick<EusClusterSnapshot, 'platform' | 'overrides'>): RecognisedWindow | undefined =>
  recogniseWindow(platform, itemsOf(overrides).some(isOfWindow))

type Methods = Pick<EusClusterSnapshot, 'methods' | 'emptiedByKvup'>

const not = { emptiedByKvup: false } as const

/** Of the HyperConverged in the version that is stored, never of the KubeVirt, where "none" and "nobody said" are one (ocp 1.6). */
async function methodsNow(
  reader: Reader,
  { kubevirt, overrides }: { kubevirt: KubeVirt | undefined; overrides: Known<Override> },
): Promise<Methods> {
  if (kubevirt === undefined) return { methods: { known: false, why: 'there is no KubeVirt' }, ...not }
  const override = itemsOf(overrides).find(({ id }) => id === overrideId)
  if (override) return { methods: { known: true, items: [keptMethods(override)] }, ...not }
  return orElse(methodsOn(reader, kubevirt), ({ message }) => ({
    methods: { known: false, why: message },
    ...not,
  }))
}

async function methodsOn(reader: Reader, kubevirt: KubeVirt): Promise<Methods> {
  const { metadata, apiVersion } = kubevirt
  const ref = { name: metadata.name, namespace: metadata.namespace ?? '' }
  const kind: Kind<KubeVirt> = { apiVersion, kind: 'KubeVirt', plural: 'kubevirts', namespaced: true }
  const owner = await getSettingsOwner(
    reader,
    { kind, ref, uid: metadata.uid ?? '' },
    managerOf(kubevirt) ?? { kind: 'plain' },
  )
  const found = await reader.get(owner.kind, owner.ref)
  if (found.is !== 'object') return { methods: { known: true, items: [] }, ...not }
  const methods = methodsIn(found.object, owner)
  return {
    methods: { known: true, items: [methods] },
    emptiedByKvup: methods.length === 0 && isWrittenByKvup(found.object, methodsPointer(owner)),
  }
}

/** What becomes of each running VM when its only node reboots (night E10, W2), the worst first. Throws ApiError. */
async function outagesIn(reader: Reader): Promise<readonly VmOutage[]> {
  const machines = new Vms(reader)
  const found: VmOutage[] = []
  try {
    for await (const { items } of reader.pages(VirtualMachineInstances)) {
      const running = items.filter(({ status }) => status?.phase === 'Running')
      const behind = await machines.behind(
        running.map(({ metadata: { name, namespace = '' } }) => ({ name, namespace })),
      )
      for (const vmi of running) {
        const vm = behind.get(vmName(vmi))
        const outcome = afterShutdown(vmi, vm && runStrategyOf(vm))
        const loses = lostData(vmi)
        found.push({
          vm: vmName(vmi),
          afterwards: words[outcome] ?? 'stays-down',
          ...(loses.length > 0 && { loses }),
        })
      }
    }
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return found.toSorted(
    (a, b) => order.indexOf(a.afterwards) - order.indexOf(b.afterwards) || a.vm.localeCompare(b.vm),
  )
}

const words: Readonly<Record<string, VmOutage['afterwards']>> = {
  restarts: 'comes-back',
  'is lost': 'is-lost',
}
const order: readonly VmOutage['afterwards'][] = ['is-lost', 'stays-down', 'comes-back']

const days = 24 * hours
const place = { name: 'kube-apiserver-to-kubelet-client-ca', namespace: 'openshift-kube-apiserver-operator' }
const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu

/**
 * From when to when the newest signer is good; none where there is no certificate to read. Of the bundle, which is a ConfigMap: Secrets are
 * not read. Throws ApiError.
 */
async function kubeletSigner(reader: Reader): Promise<readonly { begins: string; ends: string }[]> {
  const found = await reader.get(ConfigMaps, place)
  const bundle = found.is === 'object' ? (found.object.data?.['ca-bundle.crt'] ?? '') : ''
  return (bundle.match(pem) ?? [])
    .flatMap(read)
    .toSorted((a, b) => b.begins.getTime() - a.begins.getTime())
    .slice(0, 1)
    .map(({ begins, ends }) => ({ begins: begins.toISOString(), ends: ends.toISOString() }))
}

function read(block: string): readonly { begins: Date; ends: Date }[] {
  try {
    const { validFrom, validTo } = new X509Certificate(block)
    return [{ begins: new Date(validFrom), ends: new Date(validTo) }]
  } catch {
    return []
  }
}

/** It is replaced after four fifths of its life; a pool that is paused then does not learn of the new one (ocp 3.6). */
export function rotationOf({ begins, ends }: { begins: string; ends: string }): Date {
  const [from, until] = [Date.parse(begins), Date.parse(ends)]
  return new Date(from + Math.round(((until - from) * 0.8) / days) * days)
}

/** What findings are judged by: the look, and the way that was chosen. */
export interface Judged {
  snapshot: EusSnapshot
  route: Route
  channel: ChannelChoice
  chosen: Chosen
  hops: readonly EusHop[]
  releases: Pick<Releases, 'hyperconverged'>
  /** Of the operator; undefined without one. */
  operatorPath: OperatorPath | undefined
  /** From when to when the window lasts if it begins now, at the least: ms. */
  lasts: { low: number; high: number }
}

/** The control plane is ahead of paused pools: a window was begun, by kvup or by hand. */
export function isMidWindow({ snapshot }: Pick<Judged, 'snapshot'>): boolean {
  return snapshot.began !== snapshot.here
}

/** What the evidence says of the platform, judged once. */
export interface EusSnapshot {
  snapshot: EusClusterSnapshot
  platformStatus: PlatformStatus
  pools: readonly JudgedPool[]
  topology: Topology
  flavour: EusPlan['flavour']
  /** The control plane's release: the one that is being updated to, where it is. */
  release: string
  /** Its minor. */
  here: string
  /** The minor where the open window began: of the oldest kubelet in its pools; `here` where none is behind. */
  began: string
  window: RecognisedWindow | undefined
}

export type JudgedPool = PoolStatus & { pool: MachineConfigPool }

const judgedPool = (pool: MachineConfigPool): JudgedPool => ({ ...assessPool(pool), pool })

/** Throws `blocked` where this is no OKD or OpenShift, or one that is still being installed; `forbidden` where that cannot be told. */
export function snapshotOf(snapshot: EusClusterSnapshot): EusSnapshot {
  const { clusterVersion } = snapshot.platform
  if (!clusterVersion.known) throw unread(clusterVersion.why)
  const [cv] = clusterVersion.items
  if (cv === undefined)
    throw blocked('no-cluster-version', 'this cluster is not OKD or OpenShift: it has no ClusterVersion', {
      remedy: 'kvup check      says where KubeVirt stands',
    })
  const platformStatus = assessPlatform(cv)
  const release = releaseOf(platformStatus)
  if (release === undefined || minorOfPlatform(release) === '')
    throw blocked('platform-version-unknown', `the ClusterVersion names no installed release`, {
      remedy: 'oc get clusterversion version -o yaml',
    })
  const pools = itemsOf(snapshot.platform.pools).map(judgedPool)
  const here = minorOfPlatform(release)
  const window = windowIn(snapshot)
  return {
    snapshot,
    platformStatus,
    pools,
    topology: topologyOf(snapshot.platform),
    flavour: flavourOf(release, platformStatus.channel),
    release,
    here,
    began: window?.from ?? here,
    window,
  }
}

function unread(why: string): Error {
  const message = `kvup cannot see which platform this is: ${why}`
  // Of a saved cluster no right would bring it.
  return / does not contain /u.test(why)
    ? usageError('not-saved', message, {
        remedy: 'oc get clusterversions,clusteroperators,machineconfigpools,nodes -o yaml >platform.yaml',
      })
    : forbidden('clusterversion-not-readable', message, { remedy: roleRemedy('kvup-view') })
}

/** Whether kvup itself has borrowed it, by the id of the override: `pool-paused/worker`. */
export function isOverridden({ snapshot }: Pick<EusSnapshot, 'snapshot'>, id: string): boolean {
  return itemsOf(snapshot.overrides).some((override) => override.id === id)
}

/** Every pool but master that has machines, custom ones too: a node in one is not the worker pool's (ocp 3.5). */
export function poolsToPause(snapshot: EusSnapshot): readonly PoolToPause[] {
  return snapshot.pools
    .filter(({ isMaster, machines }) => !isMaster && machines > 0)
    .map((pool) => toPause(pool, isOverridden(snapshot, `pool-paused/${pool.name}`)))
}

function toPause(
  { name, machines, paused, pool: { metadata, spec } }: JudgedPool,
  pausedByKvup: boolean,
): PoolToPause {
  return {
    name,
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    machines,
    maxUnavailable: spec?.maxUnavailable ?? 1,
    paused: paused && !pausedByKvup,
    ...(pausedByKvup && { pausedByKvup }),
  }
}

/** What replaces a node that is away for longer than an update takes (night E7). */
export const healthChecksOf = ({ snapshot: { platform } }: EusSnapshot): readonly HealthCheckRef[] => [
  ...itemsOf(platform.machineHealthChecks).map(machineHealthCheck),
  ...itemsOf(platform.nodeHealthChecks).map(nodeHealthCheck),
]

/** Pauses a MachineHealthCheck (Cluster API). */
export const pausedAnnotation = 'cluster.x-k8s.io/paused'

function machineHealthCheck({ metadata }: MachineHealthCheck): HealthCheckRef {
  const { namespace, name, annotations = {} } = metadata
  return {
    kind: 'MachineHealthCheck',
    ...(namespace !== undefined && { namespace }),
    name,
    paused: Object.hasOwn(annotations, pausedAnnotation),
  }
}

const nodeHealthCheck = ({ metadata, spec }: NodeHealthCheck): HealthCheckRef => ({
  kind: 'NodeHealthCheck',
  name: metadata.name,
  paused: (spec?.pauseRequests ?? []).length > 0,
})

/** What the checks warn of stops a plan: the platform would go on on top of it. */
export const asBlockers = (findings: readonly Finding[]): readonly Finding[] =>
  findings.map((finding) => Object.assign({}, finding, { level: 'blocker' }))

/** What stays in the way of a window that is open: nothing that its run does makes it go. */
export const standsInTheWay: ReadonlySet<string> = new Set([
  'not-ours-to-update',
  'window-too-long',
  'no-hyperconverged',
  'several-hyperconvergeds',
  'several-subscriptions',
  'olm-v1',
  'no-subscription',
  'pool-paused-already',
])

/** kvup has borrowed something for a window, and not given it back. */
export const isWindowOpen = ({ window }: Pick<EusSnapshot, 'window'>): boolean => window?.by === 'overrides'

/**
 * The findings judge a cluster that stands still, and in an open window everything moves: its steps judge anew and wait for what passes. So the
 * others are told, and stop nobody.
 */
export function inOpenWindow(findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) => {
    const stops = finding.level === 'blocker' || finding.level === 'not-checked'
    return stops && !standsInTheWay.has(finding.id)
      ? Object.assign({}, finding, { level: 'warning' })
      : finding
  })
}

/** What helps where something could not be read: a right, or, of a saved cluster, which no right would complete, a better one. */
export function unreadRemedy(why: string): string {
  return / does not contain /u.test(why)
    ? 'kvup snapshot --to-file cluster.ndjson.gz      saves everything that kvup checks'
    : roleRemedy('kvup-view')
}
