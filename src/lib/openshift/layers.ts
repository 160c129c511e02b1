import { filled, itemsOf, type Known, known, notAsked, whyUnknown } from '../kube/known.ts'
import { type RecognisedWindow, recogniseWindow } from './eus-window.ts'
import { assessPool } from './machine-config-pools.ts'
import {
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
import { getHyperConverged, type HyperConvergedStatus, assessHyperConverged } from './hyperconverged.ts'
import { drainingNodes } from './drain-blockers.ts'
import { savedAlerts } from './firing-alerts.ts'
import { platformLayers } from './platform-layers.ts'
import { type PlatformReport, platformReport, type RolloutSnapshot } from './platform-report.ts'
import { assessPlatform, type PlatformSnapshot, takePlatform } from './platform-status.ts'
import { PodDisruptionBudgets } from '../kube/kinds/core-kinds.ts'
import { KubeVirts, VirtualMachineInstances } from '../kube/kinds/kubevirt-kinds.ts'
import { type LifecycleSnapshot, shownPackages, takeLifecycle } from './olm-status.ts'
import type { RolloutStatus } from '../kubevirt/rollout-status.ts'
import { condition, type Kind } from '../kube/object.ts'
import {
  ClusterOperators,
  ClusterVersions,
  type MachineConfig,
  MachineConfigPools,
  MachineConfigs,
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
  const report = platformReport({ platform, rollout: snapshot.rollout ?? unreadRollout, at })
  const cluster = platformLayers(platform, { window, at, report })
  const installed = lifecycleLayers(lifecycle, at)
  const isUpdating = installed.some(({ layer, verdict }) => layer !== 'catalog' && !atRest.has(verdict))
  const found = [
    ...cluster,
    ...installed,
    hyperConvergedLayer(hyperConverged, isUpdating),
    kubeVirtLayer(layerInputs.kubevirt),
    vmsLayer(layerInputs.vms, window),
  ]
  const layers = found.filter((layer) => layer !== undefined).map(titled)
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
    takeLayers(reader),
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
  /** Absent where nothing of it was asked for. */
  rollout?: RolloutSnapshot
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

/**
 * Two round trips, three where OLM has a Subscription of it, and some more where the platform or a pool is not at rest: nodes, which tell what a pause is for and what a roll-out does, and
 * the VMs and budgets that keep a node from being drained. Throws ApiError.
 */
async function takeLayers(reader: Reader): Promise<LayersSnapshot> {
  const [platform, lifecycle, hyperConverged] = await Promise.all([
    takePlatform(reader, { parts: ['clusterVersion', 'clusterOperators', 'pools'] }),
    takeLifecycle(reader, { parts: shown }),
    getHyperConverged(reader),
  ])
  const [{ nodes }, packageManifests] = await Promise.all([
    isRollingOut(platform) ? takePlatform(reader, { parts: ['nodes'] }) : platform,
    shownPackages(reader, itemsOf(lifecycle.subscriptions)),
  ])
  const whole = { ...platform, nodes }
  const rollout = await takeRollout(reader, whole)
  return { platform: whole, lifecycle: { ...lifecycle, packageManifests }, hyperConverged, rollout }
}

function isRollingOut({ clusterVersion, pools }: PlatformSnapshot): boolean {
  const [cv] = itemsOf(clusterVersion)
  const isBusy = itemsOf(pools).some((pool) => {
    const { paused, isMaster, state } = assessPool(pool)
    return (paused && !isMaster) || state !== 'updated'
  })
  return isBusy || (cv !== undefined && assessPlatform(cv).state !== 'idle')
}

async function takeRollout(reader: Reader, platform: PlatformSnapshot): Promise<RolloutSnapshot> {
  const drains = itemsOf(platform.pools).some((pool) => drainingNodes(pool, platform).length > 0)
  const [machineConfigs, vmis, budgets, kubevirts, alerts] = await Promise.all([
    known(renderedConfigs(reader, platform)),
    drains ? known(reader.list(VirtualMachineInstances)) : notAsked,
    drains ? known(reader.list(PodDisruptionBudgets)) : notAsked,
    drains ? known(reader.list(KubeVirts)) : notAsked,
    // Of a live cluster another way is taken: its Prometheus asks for a token.
    savedAlerts(reader),
  ])
  return { machineConfigs, vmis, budgets, kubevirts, alerts }
}

/** Large ones, a few for each pool: by the names that its nodes bear. */
async function renderedConfigs(reader: Reader, { nodes }: PlatformSnapshot): Promise<MachineConfig[]> {
  const names = itemsOf(nodes).flatMap(
    ({ metadata }) => metadata.annotations?.['machineconfiguration.openshift.io/currentConfig'] ?? [],
  )
  const found = await Promise.all(
    [...new Set(names)].map((name) => reader.get(MachineConfigs, { name }).catch(unread)),
  )
  return found.flatMap((answer) => (answer?.is === 'object' ? [answer.object] : []))
}

/** One that may not be read, or was not saved, tells no version. */
function unread(error: unknown): undefined {
  if (whyUnknown(error) === undefined) throw error
}

/** What is known of KubeVirt itself: its standing, that there is none, or why neither is known. */
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
}

/** Undefined where it is not known how many there are. */
function vmsLayer(vms: VmsSnapshot | undefined, window: RecognisedWindow | undefined): Layer | undefined {
  if (vms === undefined) return undefined
  const { instances, outdated, paused } = vms
  const says = outdated === 0 ? `${instances}, none outdated` : `${outdated} of ${instances} outdated`
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

type Judged = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'expected' | 'notes'>

/** Undefined where there is none; `updating`: the CSV or the InstallPlan above it is on its way. */
function hyperConvergedLayer(found: Known<HyperConverged>, updating: boolean): Layer | undefined {
  if (!found.known) return { layer: 'hyperconverged', verdict: 'Unknown', says: found.why }
  const [hco, second] = found.items
  if (!hco) return undefined
  if (second) return several(found.items)
  const hyperConvergedStatus = assessHyperConverged(hco)
  const { name, tainted } = hyperConvergedStatus
  const help = `kubectl -n ${hyperConvergedStatus.namespace} describe hyperconvergeds.hco.kubevirt.io ${name}`
  const judged = judge(hco, hyperConvergedStatus, updating)
  return {
    layer: 'hyperconverged',
    object: `hyperconverged/${name}`,
    ...judged,
    ...(judged.verdict === 'Degraded' && { help: [help] }),
    ...(tainted !== undefined && {
      notes: [...(judged.notes ?? []), `its configuration is not supported: ${tainted}`],
    }),
  }
}

function several(items: readonly HyperConverged[]): Layer {
  const places = items.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`).join(', ')
  return {
    layer: 'hyperconverged',
    verdict: 'Degraded',
    says: `there are ${items.length} (${places}), and a cluster has one`,
    help: ['kubectl get hyperconvergeds.hco.kubevirt.io -A'],
  }
}

/** Good only where every condition is; what is bad is expected while the operator is replaced (ocp 1.5, 9.5). */
function judge(hco: HyperConverged, hyperConvergedStatus: HyperConvergedStatus, updating: boolean): Judged {
  const { good, why, operatorVersion = 'of no version yet', current } = hyperConvergedStatus
  if (good) return { verdict: 'Healthy', says: operatorVersion }
  const bad = isBad(hco)
  const isMoving = updating || is(hco, 'Progressing', 'True') || !current
  const said = { says: operatorVersion, notes: why }
  if (bad && !isMoving) return { verdict: 'Degraded', ...said }
  const waits = { ...said, waitsFor: 'every condition to be as it must be' }
  if (!isMoving) return { verdict: 'Waiting', ...waits }
  return { verdict: 'Updating', ...waits, ...(bad && { expected: 'so it looks while it updates' }) }
}

const is = (hco: HyperConverged, type: string, status: string): boolean =>
  condition(hco, type)?.status === status

const isBad = (hco: HyperConverged): boolean =>
  is(hco, 'Degraded', 'True') || is(hco, 'Available', 'False') || is(hco, 'ReconcileComplete', 'False')

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
