import { filled, itemsOf, type Known, known, listServed, whyUnknown } from '../kube/known.ts'
import { type RecognisedWindow, recogniseWindow } from './eus-window.ts'
import {
  type FailureParts,
  type Layer,
  type LayerVerdict,
  lifecycleLayers,
  type Overall,
  overallOf,
  titled,
  type TitledLayer,
  type JudgedLayer,
} from './olm-layers.ts'
import type { Reader, Where } from '../kube/cluster.ts'
import {
  CatalogSources,
  ClusterServiceVersions,
  copiedFromLabel,
  type HyperConverged,
  HyperConvergeds,
  InstallPlans,
  OperatorConditions,
  OperatorGroups,
  Subscriptions,
} from '../kube/kinds/operator-kinds.ts'
import { withWarnings } from './layer-warnings.ts'
import { assessHyperConverged, getHyperConverged } from './hyperconverged.ts'
import { hyperConvergedLayer } from './hyperconverged-layer.ts'
import { isMasterPool, type PoolStatus, assessPool } from './machine-config-pools.ts'
import {
  type ClusterOperatorStatus,
  assessClusterOperators,
  type PlatformSnapshot,
  type PlatformStatus,
  assessPlatform,
  takePlatform,
} from './platform-status.ts'
import { assessCsv, type LifecycleSnapshot, shownPackages, takeLifecycle } from './olm-status.ts'
import type { RolloutStatus } from '../kubevirt/rollout-status.ts'
import type { Kind } from '../kube/object.ts'
import { Deployments, Jobs, Pods, ReplicaSets } from '../kube/kinds/workload-kinds.ts'
import { CustomResourceDefinitions } from '../kube/kinds/extension-kinds.ts'
import {
  isSlow,
  isUnpackFailure,
  type RunningObjects,
  storedVersionLoss,
  unpackLabel,
} from './olm-failures.ts'
import {
  type ClusterOperator,
  ClusterOperators,
  ClusterVersions,
  type MachineConfigPool,
  MachineConfigPools,
  type NodeMaintenance,
  NodeMaintenances,
  OldNodeMaintenances,
} from '../kube/kinds/openshift-kinds.ts'
import { earliest, since } from '../kube/timestamps.ts'

/** What KubeVirt depends on, and KubeVirt, in the order in which they depend on one another. */
export interface Layers {
  overall: Overall
  layers: readonly TitledLayer[]
  window?: RecognisedWindow
}

interface LayerInputs {
  kubevirt: KubeVirtSnapshot
  vms?: VmsSnapshot | undefined
  /** `kvup eus` has overrides open. */
  overridesAreOpen: boolean
}

/** Pure: the verdict on one look, at that time. */
export function layersOf(snapshot: LayersSnapshot, layerInputs: LayerInputs, at: Date): Layers {
  const { platform, lifecycle, hyperConverged } = snapshot
  const window = recogniseWindow(platform, layerInputs.overridesAreOpen)
  const cluster = platformLayers(platform, at)
  const installed = lifecycleLayers(lifecycle, at, snapshot.failures)
  const pools = cluster.length === 0 ? [] : poolLayers(platform.pools, window)
  const kubevirt = kubeVirtLayer(layerInputs.kubevirt)
  const around = {
    updating: [...cluster, ...pools, ...installed, kubevirt].some(isUpdated),
    kubeVirtIsTold: !atRest.has(kubevirt.verdict),
    at,
    running: snapshot.failures?.running,
  }
  const found = [
    ...cluster,
    ...pools,
    ...installed,
    hyperConvergedLayer(hyperConverged, around),
    kubevirt,
    vmsLayer(layerInputs.vms, window),
  ]
  const judged = found.filter((layer) => layer !== undefined)
  const layers = withWarnings(judged, snapshot, window).map(titled)
  return { overall: overallOf(layers), layers, ...filled({ window }) }
}

const atRest: ReadonlySet<LayerVerdict> = new Set(['Healthy', 'Unknown'])

/** What is being replaced makes HyperConverged look bad for a while. What waits, for an approval say, does not. */
function isUpdated({ layer, verdict }: Layer): boolean {
  if (layer === 'catalog' || layer === 'operators') return false
  return layer === 'csv' ? !atRest.has(verdict) : verdict === 'Updating'
}

/** Whether the cluster is OKD or OpenShift, asked beside what else is read: never rejects before it is awaited. */
export function askPlatform(reader: Reader): Promise<boolean> {
  const asked = isPlatform(reader)
  asked.catch(() => undefined)
  return asked
}

interface ClusterRead {
  /** The time of the look. */
  at: Date
  kubevirt: KubeVirtSnapshot
  vms?: VmsSnapshot | undefined
  /** Of the answer to `askPlatform`. */
  onPlatform: boolean
  /** Somebody manages KubeVirt who has layers of his own. */
  managed: boolean
  /** Whether `kvup eus` has overrides open in that cluster; asked only where it matters. */
  overridesAreOpen?: (() => Promise<boolean>) | undefined
}

/** What KubeVirt depends on there; undefined on a plain cluster, at no further request. Throws what the Reader throws. */
export async function readLayers(reader: Reader, read: ClusterRead): Promise<Layers | undefined> {
  const { at, kubevirt, vms } = read
  // Where there is no KubeVirt yet, its HyperConverged may be there.
  const mayBeBelow = async () => kubevirt.is !== 'one' && isServed(reader, operatorGroup)
  if (!read.onPlatform && !read.managed && !(await mayBeBelow())) return undefined
  const [snapshot, overridesAreOpen] = await Promise.all([
    takeLayers(reader, at),
    read.overridesAreOpen?.() ?? false,
  ])
  const found = layersOf(snapshot, { kubevirt, vms, overridesAreOpen }, at)
  const above = found.layers.filter(({ layer }) => !own.has(layer))
  // What may not be read is said beside a KubeVirt; alone it would hide that there is none.
  const isTold = kubevirt.is === 'one' || above.some(({ verdict }) => verdict !== 'Unknown')
  return above.length > 0 && isTold ? found : undefined
}

const own: ReadonlySet<string> = new Set(['kubevirt', 'vms'])

/** What KubeVirt depends on, as it was seen. */
export interface LayersSnapshot {
  platform: PlatformSnapshot
  lifecycle: LifecycleSnapshot
  hyperConverged: Known<HyperConverged>
  /** Asked for where there is a platform. */
  oldMaintenances?: Known<NodeMaintenance>
  maintenances?: Known<NodeMaintenance>
  /** Absent where nothing fails. */
  failures?: FailureParts
}

/** Groups whose presence says that KubeVirt is not alone. */
const platformGroup = 'config.openshift.io'
const operatorGroup = 'hco.kubevirt.io'

/** Whether the cluster is OKD or OpenShift: one small request. Who may not ask takes it for none. */
export async function isPlatform(reader: Reader): Promise<boolean> {
  return isServed(reader, platformGroup)
}

async function isServed(reader: Reader, group: string): Promise<boolean> {
  try {
    return (await reader.versions(group)).length > 0
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return false
  }
}

const shown = ['installPlans', 'csvs', 'catalogSources', 'operatorGroups', 'operatorConditions'] as const

/** Two round trips, three where OLM has a Subscription of it; nodes are read only where a pool is paused, for whose kubelets tell what the pause is for. Throws ApiError. */
async function takeLayers(reader: Reader, at: Date): Promise<LayersSnapshot> {
  const [platform, lifecycle, hyperConverged] = await Promise.all([
    takePlatform(reader, { parts: ['clusterVersion', 'clusterOperators', 'pools'] }),
    takeLifecycle(reader, { parts: shown }),
    getHyperConverged(reader),
  ])
  const paused = itemsOf(platform.pools).some((pool) => pool.spec?.paused === true && !isMasterPool(pool))
  const isThere = itemsOf(platform.clusterVersion).length > 0
  const [{ nodes }, packageManifests, oldMaintenances, maintenances, failures] = await Promise.all([
    paused ? takePlatform(reader, { parts: ['nodes'] }) : platform,
    shownPackages(reader, itemsOf(lifecycle.subscriptions)),
    isThere ? known(listServed(reader, OldNodeMaintenances)) : undefined,
    isThere ? known(listServed(reader, NodeMaintenances)) : undefined,
    takeFailures(reader, { lifecycle, hyperConverged }, at),
  ])
  return {
    platform: { ...platform, nodes },
    lifecycle: { ...lifecycle, packageManifests },
    hyperConverged,
    ...(oldMaintenances && { oldMaintenances }),
    ...(maintenances && { maintenances }),
    failures,
  }
}

/** Asks for more only where something does not get on. Throws ApiError. */
async function takeFailures(
  reader: Reader,
  { lifecycle, hyperConverged }: Pick<LayersSnapshot, 'lifecycle' | 'hyperConverged'>,
  at: Date,
): Promise<FailureParts> {
  const [subscription] = itemsOf(lifecycle.subscriptions)
  const loss = itemsOf(lifecycle.installPlans)
    .map(({ status }) => (status?.phase === 'Failed' ? storedVersionLoss(status.message ?? '') : undefined))
    .find((one) => one !== undefined)
  const [running, unpackJobs, refusedCrd] = await Promise.all([
    takeRunning(reader, namespaceToAsk({ lifecycle, hyperConverged }, at)),
    subscription && isUnpackFailure(subscription)
      ? known(reader.list(Jobs, { namespace: subscription.spec?.sourceNamespace, labels: unpackLabel }))
      : undefined,
    loss && known(reader.list(CustomResourceDefinitions, { name: loss.name })),
  ])
  return filled({ running, unpackJobs, refusedCrd })
}

/** Where a CSV or a component does not get ready. */
function namespaceToAsk(
  { lifecycle, hyperConverged }: Pick<LayersSnapshot, 'lifecycle' | 'hyperConverged'>,
  at: Date,
): string | undefined {
  const [hco] = itemsOf(hyperConverged)
  const slow = itemsOf(lifecycle.csvs).find((csv) => isSlow(csv, assessCsv(csv, at), at))
  if (slow !== undefined) return slow.metadata.namespace
  return hco && !assessHyperConverged(hco).good ? hco.metadata.namespace : undefined
}

async function takeRunning(
  reader: Reader,
  namespace: string | undefined,
): Promise<RunningObjects | undefined> {
  if (namespace === undefined) return undefined
  const [deployments, replicaSets, pods] = await Promise.all([
    known(reader.list(Deployments, { namespace })),
    known(reader.list(ReplicaSets, { namespace })),
    known(reader.list(Pods, { namespace })),
  ])
  return { deployments, replicaSets, pods }
}

/** What is known of KubeVirt itself: its rollout status, that there is none, or why neither is known. */
type KubeVirtSnapshot =
  | { is: 'one'; name: string; rolloutStatus: RolloutStatus }
  | { is: 'none' }
  | { is: 'unknown'; why: string }

/** In the words of its own verdict. */
function kubeVirtLayer(kubeVirtSnapshot: KubeVirtSnapshot): Layer {
  if (kubeVirtSnapshot.is === 'unknown')
    return { layer: 'kubevirt', verdict: 'Unknown', says: kubeVirtSnapshot.why }
  if (kubeVirtSnapshot.is === 'none')
    return { layer: 'kubevirt', verdict: 'Waiting', says: 'there is no KubeVirt resource' }
  const { verdict, since: from, waitingFor, why, observed, target } = kubeVirtSnapshot.rolloutStatus
  const [cause] = why
  return {
    layer: 'kubevirt',
    object: `kubevirt/${kubeVirtSnapshot.name}`,
    verdict,
    says: versions(observed.version, target.version),
    ...(verdict !== 'Healthy' && { waitsFor: cause?.sentence ?? waitingFor ?? 'its operator' }),
    ...(from !== undefined && { since: from }),
  }
}

function versions(observed: string | undefined, target = 'of no version yet'): string {
  return observed === undefined || observed === target ? target : `${observed} to ${target}`
}

/** How many VMs there are and how many run an old virt-launcher, by their label: KubeVirt's own count also has other VMs (ocp 9.9). */
export interface VmsSnapshot {
  instances: number
  outdated: number
  /** workloadUpdateMethods is empty: nothing is updated by itself. */
  paused: boolean
  /** What is wrong with some of them, in a few words each; it is told and changes no verdict. */
  problems?: readonly string[]
}

/** Undefined where it is not known how many there are. */
function vmsLayer(vms: VmsSnapshot | undefined, window: RecognisedWindow | undefined): Layer | undefined {
  if (vms === undefined) return undefined
  const { instances, outdated, paused, problems = [] } = vms
  const counts = outdated === 0 ? `${instances}, none outdated` : `${outdated} of ${instances} outdated`
  const says = [counts, ...problems].join(', ')
  if (outdated === 0 || !paused) return { layer: 'vms', verdict: 'Healthy', says }
  const waiting = { layer: 'vms', verdict: 'Waiting', says: `${says}, and workload updates are off` } as const
  if (!window)
    return { ...waiting, waitsFor: 'workload updates to be given back', help: ['kvup workloads outdated'] }
  return {
    ...waiting,
    waitsFor: 'the end of the EUS window',
    expected: 'in an EUS window',
    notes: ['the alert OutdatedVirtualMachineInstanceWorkloads fires after 24 h of this, by design'],
  }
}

const kinds: { readonly [L in Layer['layer']]?: readonly Kind[] } = {
  platform: [ClusterVersions, ClusterOperators],
  pool: [MachineConfigPools],
  catalog: [CatalogSources],
  subscription: [Subscriptions, InstallPlans, ClusterServiceVersions, OperatorConditions, OperatorGroups],
  hyperconverged: [HyperConvergeds],
}

/** What to follow so that a change of these layers is seen. `namespace` is that of KubeVirt, which its operator shares. */
export function layerKinds(
  layers: readonly Layer[],
  namespace: string | undefined,
): readonly (readonly [Kind, Where])[] {
  const there = new Set(layers.map(({ layer }) => layer))
  return [...there].flatMap((layer) =>
    (kinds[layer] ?? []).map((kind) => [kind, whereOf(kind, namespace)] as const),
  )
}

/** CSVs are copied to every namespace (ocp 2.7), catalogs are elsewhere. */
function whereOf(kind: Kind, namespace: string | undefined): Where {
  if (kind.plural === CatalogSources.plural || !kind.namespaced) return {}
  const isCopied = kind.plural === ClusterServiceVersions.plural || kind.plural === OperatorConditions.plural
  return isCopied ? { namespace, labels: `!${copiedFromLabel}` } : { namespace }
}

/**
 * Asks for all that any command wants to know of OKD, OpenShift, OLM and HyperConverged, for a reader that keeps it; two questions where there
 * is none of them. Throws what the Reader throws for anything but 403 and 404.
 */
export async function prefetchPlatform(reader: Reader): Promise<void> {
  const [onPlatform, mayHaveOne] = await Promise.all([isPlatform(reader), isServed(reader, operatorGroup)])
  if (!onPlatform && !mayHaveOne) return
  await Promise.all([
    onPlatform ? takePlatform(reader) : undefined,
    takeLifecycle(reader),
    getHyperConverged(reader),
  ])
}

/** The cluster version, and the operators of the platform where one is not as it should be. None where this is no such cluster. */
function platformLayers(platform: PlatformSnapshot, at: Date): Layer[] {
  const { clusterVersion, clusterOperators } = platform
  if (!clusterVersion.known) return [{ layer: 'platform', verdict: 'Unknown', says: clusterVersion.why }]
  const [cv] = clusterVersion.items
  if (!cv) return []
  const platformStatus = assessPlatform(cv)
  const operators = clusterOperators.known
    ? operatorsLayer(clusterOperators.items, { updating: platformStatus.state !== 'idle', at })
    : ({ layer: 'operators', verdict: 'Unknown', says: clusterOperators.why } as const)
  return [versionLayer(platformStatus), ...(operators ? [operators] : [])]
}

function versionLayer(platformStatus: PlatformStatus): Layer {
  const base = { layer: 'platform', object: 'clusterversion/version' } as const
  const asked = armed(platformStatus)
  if (asked) return { ...base, ...asked }
  const judged =
    platformStatus.state === 'idle' ? platformAtRest(platformStatus) : updatingPlatform(platformStatus)
  return { ...base, ...judged, ...filled({ since: platformStatus.since }) }
}

/** `OpenShift 4.18.21`, `OKD 4.19.0-okd-scos.16`. */
function platformName(version = ''): string {
  return `${version.includes('okd') ? 'OKD' : 'OpenShift'} ${version}`.trim()
}

/** Asked for and refused, it stays armed, whatever else the cluster does (ocp 3.2). */
function armed(platformStatus: PlatformStatus): JudgedLayer | undefined {
  const { armed: asked, accepted, current, version } = platformStatus
  if (asked === undefined) return undefined
  const what = `${platformName(version)}; ${asked.version ?? asked.image ?? ''} is asked for`
  if (!current || accepted.is !== 'no')
    return { verdict: 'Updating', says: what, waitsFor: 'the cluster version operator to take it up' }
  return {
    verdict: 'Waiting',
    says: `${what} and was refused (${accepted.reason})`,
    waitsFor: 'whoever asked for it: it starts by itself as soon as nothing speaks against it',
    notes: [accepted.message],
    help: ['oc adm upgrade --clear     takes the request back'],
  }
}

function platformAtRest({ failing, message, version, current, upgradeable }: PlatformStatus): JudgedLayer {
  const says = platformName(version)
  if (failing === 'True') return { verdict: 'Degraded', says: `${says} fails`, notes: [message] }
  if (!current) return { verdict: 'Updating', says, waitsFor: 'the cluster version operator to see its spec' }
  if (upgradeable.is !== 'no') return { verdict: 'Healthy', says }
  return { verdict: 'Healthy', says, notes: [`no next minor for now: ${upgradeable.message}`] }
}

function updatingPlatform(platformStatus: PlatformStatus): JudgedLayer {
  const { version, target = '', state, failing, slow, message } = platformStatus
  const says = version === undefined ? platformName(target) : `${platformName(version)} to ${target}`
  if (failing === 'True') return { verdict: 'Degraded', says: `${says} fails`, notes: [message] }
  if (state === 'partial') return { verdict: 'Stalled', says: `${says}, stopped half-way`, notes: [message] }
  return {
    verdict: 'Updating',
    says,
    waitsFor: waitedFor(message),
    notes: [message],
    ...(slow !== undefined && { expected: 'slower than usual, which is no failure' }),
  }
}

/** `Working towards 4.19.14: 712 of 897 done (79% complete), waiting on network` */
function waitedFor(message: string): string {
  return (
    /waiting (?:up to \d+ minutes )?on (?<what>.+?)(?: over .*)?$/u.exec(message)?.groups?.['what'] ??
    'its operators'
  )
}

/** How long a part of the platform may be degraded while the platform updates (ocp 4.2: an error from then on). */
const updatePatience = 40 * 60_000

/** The operators that are degraded or not available; undefined where none is. */
function operatorsLayer(
  operators: readonly ClusterOperator[],
  { updating, at }: { updating: boolean; at: Date },
): Layer | undefined {
  const bad = assessClusterOperators(operators).filter((one) => one.degraded || !one.available)
  if (bad.length === 0) return undefined
  const from = earliest(bad.map(({ degraded }) => degraded?.since))
  const isExpected = updating && bad.every((one) => one.available) && (since(from, at) ?? 0) < updatePatience
  return {
    layer: 'operators',
    object: `clusteroperator/${bad[0]?.name}`,
    verdict: isExpected ? 'Updating' : 'Degraded',
    says: bad.map(inWords).join(', '),
    ...(isExpected && {
      expected: 'so it looks for a while when the platform updates',
      waitsFor: 'the update to go on',
    }),
    ...filled({ since: from }),
    notes: bad.flatMap(({ name, degraded }) => (degraded?.message ? [`${name}: ${degraded.message}`] : [])),
    help: [`oc describe clusteroperator ${bad[0]?.name}`],
  }
}

function inWords({ name, available, degraded }: ClusterOperatorStatus): string {
  const states = [...(available ? [] : ['not available']), ...(degraded ? ['degraded'] : [])]
  return `${name} is ${states.join(' and ')}`
}

/** One per pool that has machines or something to tell, the master first: the platform's update needs it first. */
function poolLayers(pools: Known<MachineConfigPool>, window: RecognisedWindow | undefined): Layer[] {
  if (!pools.known) return [{ layer: 'pool', verdict: 'Unknown', says: pools.why }]
  return pools.items
    .map(assessPool)
    .filter(({ machines, state, paused }) => machines > 0 || state === 'degraded' || paused)
    .toSorted((a, b) => Number(b.isMaster) - Number(a.isMaster))
    .map((pool) => layerOf(pool, window))
}

function layerOf(pool: PoolStatus, window: RecognisedWindow | undefined): Layer {
  const found = pool.isMaster && pool.paused ? pausedMaster(pool) : judged[pool.state](pool, window)
  return { layer: 'pool', object: `machineconfigpool/${pool.name}`, ...found }
}

type Judge = (pool: PoolStatus, window: RecognisedWindow | undefined) => JudgedLayer

const counts = ({ updated, machines }: PoolStatus): string => `${updated} of ${machines} updated`

const said = ({ message }: PoolStatus): string[] => (message === '' ? [] : [message])

const judged: Record<PoolStatus['state'], Judge> = {
  updated: (pool) => ({
    verdict: 'Healthy',
    says: `${counts(pool)}${pool.paused ? ', paused with nothing to do' : ''}`,
  }),
  updating: (pool) => ({
    verdict: 'Updating',
    says: counts(pool),
    waitsFor: 'its other machines to be drained and rebooted',
    notes: said(pool),
  }),
  pending: (pool) => ({
    verdict: 'Updating',
    says: `${counts(pool)}, not begun`,
    waitsFor: 'the machine config controller to begin',
  }),
  'paused-pending': (pool, window) => ({
    verdict: 'Waiting',
    says: `paused, ${counts(pool)}`,
    ...(window
      ? { expected: 'in an EUS window', waitsFor: 'the end of the window' }
      : { waitsFor: 'somebody to unpause it', help: [unpause(pool)] }),
  }),
  degraded: (pool) => ({
    verdict: 'Degraded',
    says: `${counts(pool)}, ${pool.degraded} degraded`,
    notes: said(pool),
    help: [`oc describe machineconfigpool ${pool.name}`],
  }),
}

function pausedMaster(pool: PoolStatus): JudgedLayer {
  return {
    verdict: 'Stalled',
    says: `paused, ${counts(pool)}: the platform cannot be updated`,
    waitsFor: 'somebody to unpause it',
    help: [unpause(pool)],
  }
}

const unpause = ({ name }: PoolStatus): string =>
  `oc patch machineconfigpool ${name} --type merge -p '{"spec":{"paused":false}}'`
