import { filled, itemsOf, type Known, known, listServed, notAsked, whyUnknown } from '../kube/known.ts'
import { type RecognisedWindow, recogniseWindow } from './eus-window.ts'
import { assessPool } from './machine-config-pools.ts'
import {
  type FailureParts,
  type Layer,
  type LayerVerdict,
  lifecycleLayers,
  type Overall,
  overallOf,
  titled,
  type TitledLayer,
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
import { drainingNodes } from './drain-blockers.ts'
import { type FiringAlert, savedAlerts } from './firing-alerts.ts'
import { platformLayers } from './platform-layers.ts'
import { type PlatformReport, platformReport, type RolloutSnapshot } from './platform-report.ts'
import { assessPlatform, type PlatformSnapshot, takePlatform } from './platform-status.ts'
import { type PodDisruptionBudget, PodDisruptionBudgets } from '../kube/kinds/core-kinds.ts'
import {
  KubeVirts,
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../kube/kinds/kubevirt-kinds.ts'
import { picked } from '../kube/read-cache.ts'
import { NotSavedError } from '../kube/saved/saved-cluster.ts'
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
  ClusterOperators,
  ClusterVersions,
  type MachineConfig,
  MachineConfigPools,
  MachineConfigs,
  type NodeMaintenance,
  NodeMaintenances,
  OldNodeMaintenances,
} from '../kube/kinds/openshift-kinds.ts'

/** What KubeVirt depends on, and KubeVirt, in the order in which they depend on one another. */
export interface Layers {
  overall: Overall
  layers: readonly TitledLayer[]
  window?: RecognisedWindow
  /** OKD or OpenShift in numbers and names. */
  platform?: PlatformReport
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
  const { rollout = unreadRollout } = snapshot
  const report = platformReport({ platform, rollout, at })
  const { machineConfigs } = rollout
  const cluster = platformLayers(platform, { window, at, report, machineConfigs })
  const installed = lifecycleLayers(lifecycle, at, snapshot.failures)
  const kubevirt = kubeVirtLayer(layerInputs.kubevirt)
  const around = {
    updating: [...cluster, ...installed, kubevirt].some(isUpdated),
    kubeVirtIsTold: !atRest.has(kubevirt.verdict),
    at,
    running: snapshot.failures?.running,
  }
  const found = [
    ...cluster,
    ...installed,
    hyperConvergedLayer(hyperConverged, around),
    kubevirt,
    vmsLayer(layerInputs.vms, window),
  ]
  const judged = found.filter((layer) => layer !== undefined)
  const layers = withWarnings(judged, snapshot, window).map(titled)
  return { overall: overallOf(layers), layers, ...filled({ window, platform: report }) }
}

const unreadRollout: RolloutSnapshot = {
  machineConfigs: notAsked,
  vmis: notAsked,
  budgets: notAsked,
  kubevirts: notAsked,
  alerts: notAsked,
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
  /** See `AskAlerts`; absent: of a saved cluster what its files hold, and no other is asked. */
  alerts?: AskAlerts | undefined
}

/** Which alerts fire; `busy`: the platform or a pool is not at rest. `notAsked` where nobody wants to know. */
export type AskAlerts = (reader: Reader, busy: boolean) => Promise<Known<FiringAlert>>

/** What KubeVirt depends on there; undefined on a plain cluster, at no further request. Throws what the Reader throws. */
export async function readLayers(reader: Reader, read: ClusterRead): Promise<Layers | undefined> {
  const { at, kubevirt, vms } = read
  // Where there is no KubeVirt yet, its HyperConverged may be there.
  const mayBeBelow = async () => kubevirt.is !== 'one' && isServed(reader, operatorGroup)
  if (!read.onPlatform && !read.managed && !(await mayBeBelow())) return undefined
  const [snapshot, overridesAreOpen] = await Promise.all([
    takeLayers(reader, at, read.alerts ?? savedAlerts),
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
  /** Absent where nothing of it was asked for. */
  rollout?: RolloutSnapshot
}

/** Groups whose presence says that KubeVirt is not alone. */
const platformGroup = 'config.openshift.io'
const operatorGroup = 'hco.kubevirt.io'

/** Whether the cluster is OKD or OpenShift: one small request. Who may not ask takes it for none. */
export const isPlatform = async (reader: Reader): Promise<boolean> => isServed(reader, platformGroup)

async function isServed(reader: Reader, group: string): Promise<boolean> {
  try {
    return (await reader.versions(group)).length > 0
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return false
  }
}

const shown = ['installPlans', 'csvs', 'catalogSources', 'operatorGroups', 'operatorConditions'] as const

/**
 * Two round trips, three where OLM has a Subscription of it, and some more where the platform or a pool is not at rest: nodes, which tell what a pause is for and what a roll-out does, and
 * the VMs and budgets that keep a node from being drained. Throws ApiError.
 */
async function takeLayers(reader: Reader, at: Date, alerts: AskAlerts): Promise<LayersSnapshot> {
  const [platform, lifecycle, hyperConverged] = await Promise.all([
    takePlatform(reader, { parts: ['clusterVersion', 'clusterOperators', 'pools'] }),
    takeLifecycle(reader, { parts: shown }),
    getHyperConverged(reader),
  ])
  const isThere = itemsOf(platform.clusterVersion).length > 0
  const busy = isRollingOut(platform)
  const [{ nodes }, packageManifests, oldMaintenances, maintenances, failures] = await Promise.all([
    busy ? takePlatform(reader, { parts: ['nodes'] }) : platform,
    shownPackages(reader, itemsOf(lifecycle.subscriptions)),
    isThere ? known(listServed(reader, OldNodeMaintenances)) : undefined,
    isThere ? known(listServed(reader, NodeMaintenances)) : undefined,
    takeFailures(reader, { lifecycle, hyperConverged }, at),
  ])
  const whole = { ...platform, nodes }
  const rollout = await takeRollout(reader, whole, { busy, ask: alerts })
  return {
    platform: whole,
    lifecycle: { ...lifecycle, packageManifests },
    hyperConverged,
    ...(oldMaintenances && { oldMaintenances }),
    ...(maintenances && { maintenances }),
    failures,
    rollout,
  }
}

function isRollingOut({ clusterVersion, pools }: PlatformSnapshot): boolean {
  const [cv] = itemsOf(clusterVersion)
  const isBusy = itemsOf(pools).some((pool) => {
    const { paused, isMaster, state } = assessPool(pool)
    return (paused && !isMaster) || state !== 'updated'
  })
  return isBusy || (cv !== undefined && assessPlatform(cv).state !== 'idle')
}

async function takeRollout(
  reader: Reader,
  platform: PlatformSnapshot,
  { busy, ask }: { busy: boolean; ask: AskAlerts },
): Promise<RolloutSnapshot> {
  const draining = new Set(itemsOf(platform.pools).flatMap((pool) => drainingNodes(pool, platform)))
  const drains = draining.size > 0
  const [machineConfigs, vmis, budgets, kubevirts, alerts] = await Promise.all([
    known(busy ? renderedConfigs(reader, platform) : Promise.resolve([])),
    drains ? known(picked(reader, VirtualMachineInstances, isOnOneOf(draining))) : notAsked,
    drains ? known(picked(reader, PodDisruptionBudgets, allowsNothing)) : notAsked,
    drains ? known(reader.list(KubeVirts)) : notAsked,
    itemsOf(platform.clusterVersion).length > 0 ? ask(reader, busy) : savedAlerts(reader),
  ])
  return { machineConfigs, vmis, budgets, kubevirts, alerts }
}

const isOnOneOf =
  (nodes: ReadonlySet<string>) =>
  ({ status }: VirtualMachineInstance): boolean =>
    nodes.has(status?.nodeName ?? '')

const allowsNothing = ({ status }: PodDisruptionBudget): boolean => status?.disruptionsAllowed === 0

/** Large ones, a few for each pool: by the names that its nodes bear, and what it wants. A role to look does not grant them: they hold pull secrets. */
async function renderedConfigs(reader: Reader, platform: PlatformSnapshot): Promise<MachineConfig[]> {
  const names = [
    ...itemsOf(platform.nodes).flatMap(
      ({ metadata }) => metadata.annotations?.['machineconfiguration.openshift.io/currentConfig'] ?? [],
    ),
    ...itemsOf(platform.pools).flatMap(({ spec }) => spec?.configuration?.name ?? []),
  ]
  const found = await Promise.all(
    [...new Set(names)].map((name) => reader.get(MachineConfigs, { name }).catch(notHeld)),
  )
  return found.flatMap((answer) => (answer?.is === 'object' ? [answer.object] : []))
}

/** What was saved need not hold them, which is no news; that they may not be read is. */
function notHeld(error: unknown): undefined {
  if (!(error instanceof NotSavedError)) throw error
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
  const { verdict, since: from, waitingFor, why, observed, target, remarks } = kubeVirtSnapshot.rolloutStatus
  const [cause] = why
  return {
    layer: 'kubevirt',
    object: `kubevirt/${kubeVirtSnapshot.name}`,
    verdict,
    ...(verdict === 'Healthy' && remarks.length > 0 && { partly: true }),
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
  const waiting = {
    layer: 'vms',
    verdict: 'Waiting',
    says: `${says}, and automatic VM updates are off`,
  } as const
  if (!window)
    return { ...waiting, waitsFor: 'automatic VM updates to resume', help: ['kvup workloads outdated'] }
  return {
    ...waiting,
    waitsFor: 'the end of the EUS upgrade',
    expected: 'during an EUS upgrade',
    notes: ['the alert OutdatedVirtualMachineInstanceWorkloads fires after 24 h, by design'],
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
