import { filled, itemsOf, type Known, whyUnknown } from '../kube/known.ts'
import { type RecognisedWindow, recogniseWindow } from './eus-window.ts'
import {
  type Layer,
  type LayerVerdict,
  type Overall,
  overallOf,
  titled,
  type TitledLayer,
} from './layer-verdict.ts'
import { lifecycleLayers } from './olm-layers.ts'
import { platformLayers, poolLayers } from './platform-layers.ts'
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
import { findHyperConverged, type HyperConvergedStanding, hyperConvergedStanding } from './hyperconverged.ts'
import { isMasterPool } from './machine-config-pools.ts'
import { type PlatformSnapshot, takePlatform } from './platform-status.ts'
import { type LifecycleSnapshot, shownPackages, takeLifecycle } from './olm-status.ts'
import type { Standing } from '../kubevirt/rollout-status.ts'
import { condition, type Kind } from '../kube/object.ts'
import { ClusterOperators, ClusterVersions, MachineConfigPools } from '../kube/kinds/openshift-kinds.ts'

/** What KubeVirt depends on, and KubeVirt, in the order in which they depend on one another. */
export interface Layers {
  overall: Overall
  layers: readonly TitledLayer[]
  window?: RecognisedWindow
}

interface Seen {
  kubevirt: SeenKubeVirt
  vms?: SeenVms | undefined
  /** `kvup eus` has loans open. */
  loansAreOpen: boolean
}

/** Pure: the verdict on one look, at that time. */
export function layersOf(snapshot: LayersSnapshot, seen: Seen, at: Date): Layers {
  const { platform, lifecycle, hyperConverged } = snapshot
  const window = recogniseWindow(platform, seen.loansAreOpen)
  const cluster = platformLayers(platform, at)
  const installed = lifecycleLayers(lifecycle, at)
  const isUpdating = installed.some(({ layer, verdict }) => layer !== 'catalog' && !atRest.has(verdict))
  const found = [
    ...cluster,
    ...(cluster.length === 0 ? [] : poolLayers(platform.pools, window)),
    ...installed,
    hyperConvergedLayer(hyperConverged, isUpdating),
    kubeVirtLayer(seen.kubevirt),
    vmsLayer(seen.vms, window),
  ]
  const layers = found.filter((layer) => layer !== undefined).map(titled)
  return { overall: overallOf(layers), layers, ...filled({ window }) }
}

const atRest: ReadonlySet<LayerVerdict> = new Set(['Settled', 'Unknown'])

/** Whether the cluster is OKD or OpenShift, asked beside what else is read: never rejects before it is awaited. */
export function askPlatform(reader: Reader): Promise<boolean> {
  const asked = isPlatform(reader)
  asked.catch(() => undefined)
  return asked
}

interface Look {
  /** The time of the look. */
  at: Date
  kubevirt: SeenKubeVirt
  vms?: SeenVms | undefined
  /** Of the answer to `askPlatform`. */
  onPlatform: boolean
  /** Somebody manages KubeVirt who has layers of his own. */
  managed: boolean
  /** Whether `kvup eus` has loans open in that cluster; asked only where it matters. */
  loansAreOpen?: (() => Promise<boolean>) | undefined
}

/** What KubeVirt depends on there; undefined on a plain cluster, at no further request. Throws what the Reader throws. */
export async function lookAtLayers(reader: Reader, look: Look): Promise<Layers | undefined> {
  if (!look.onPlatform && !look.managed && !(await mayBeBelow(reader, look))) return undefined
  const [snapshot, loansAreOpen] = await Promise.all([takeLayers(reader), look.loansAreOpen?.() ?? false])
  const { at, kubevirt, vms } = look
  const found = layersOf(snapshot, { kubevirt, vms, loansAreOpen }, at)
  const above = found.layers.filter(({ layer }) => !own.has(layer))
  // What may not be read is said beside a KubeVirt; alone it would hide that there is none.
  const isTold = kubevirt.is === 'one' || above.some(({ verdict }) => verdict !== 'Unknown')
  return above.length > 0 && isTold ? found : undefined
}

const own: ReadonlySet<string> = new Set(['kubevirt', 'vms'])

/** Where there is no KubeVirt yet, its HyperConverged may be there. */
async function mayBeBelow(reader: Reader, { kubevirt }: Look): Promise<boolean> {
  return kubevirt.is !== 'one' && hasHyperConverged(reader)
}

/** What KubeVirt depends on, as it was seen. */
export interface LayersSnapshot {
  platform: PlatformSnapshot
  lifecycle: LifecycleSnapshot
  hyperConverged: Known<HyperConverged>
}

/** Groups whose presence says that KubeVirt is not alone. */
const platformGroup = 'config.openshift.io'
const operatorGroup = 'hco.kubevirt.io'

/** Whether the cluster is OKD or OpenShift: one small request. Who may not ask takes it for none. */
export async function isPlatform(reader: Reader): Promise<boolean> {
  return isServed(reader, platformGroup)
}

/** Whether a HyperConverged can be there. */
async function hasHyperConverged(reader: Reader): Promise<boolean> {
  return isServed(reader, operatorGroup)
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
async function takeLayers(reader: Reader): Promise<LayersSnapshot> {
  const [platform, lifecycle, hyperConverged] = await Promise.all([
    takePlatform(reader, { parts: ['clusterVersion', 'clusterOperators', 'pools'] }),
    takeLifecycle(reader, { parts: shown }),
    findHyperConverged(reader),
  ])
  const paused = itemsOf(platform.pools).some((pool) => pool.spec?.paused === true && !isMasterPool(pool))
  const [{ nodes }, packageManifests] = await Promise.all([
    paused ? takePlatform(reader, { parts: ['nodes'] }) : platform,
    shownPackages(reader, itemsOf(lifecycle.subscriptions)),
  ])
  return { platform: { ...platform, nodes }, lifecycle: { ...lifecycle, packageManifests }, hyperConverged }
}

/** What is known of KubeVirt itself: its standing, that there is none, or why neither is known. */
type SeenKubeVirt =
  | { is: 'one'; name: string; standing: Standing }
  | { is: 'none' }
  | { is: 'unknown'; why: string }

/** In the words of its own verdict. */
function kubeVirtLayer(seen: SeenKubeVirt): Layer {
  if (seen.is === 'unknown') return { layer: 'kubevirt', verdict: 'Unknown', says: seen.why }
  if (seen.is === 'none')
    return { layer: 'kubevirt', verdict: 'Waiting', says: 'there is no KubeVirt resource' }
  const { verdict, since, waitingFor, why, observed, target } = seen.standing
  const [cause] = why
  return {
    layer: 'kubevirt',
    object: `kubevirt/${seen.name}`,
    verdict,
    says: versions(observed.version, target.version),
    ...(verdict !== 'Settled' && { waitsFor: cause?.sentence ?? waitingFor ?? 'its operator' }),
    ...(since !== undefined && { since }),
  }
}

function versions(observed: string | undefined, target = 'of no version yet'): string {
  return observed === undefined || observed === target ? target : `${observed} to ${target}`
}

/** How many VMs there are and how many run an old virt-launcher, by their label: KubeVirt's own count also has other VMs (ocp 9.9). */
export interface SeenVms {
  instances: number
  outdated: number
  /** workloadUpdateMethods is empty: nothing is updated by itself. */
  held: boolean
}

/** Undefined where it is not known how many there are. */
function vmsLayer(vms: SeenVms | undefined, window: RecognisedWindow | undefined): Layer | undefined {
  if (vms === undefined) return undefined
  const { instances, outdated, held } = vms
  const says = outdated === 0 ? `${instances}, none outdated` : `${outdated} of ${instances} outdated`
  if (outdated === 0 || !held) return { layer: 'vms', verdict: 'Settled', says }
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
  const standing = hyperConvergedStanding(hco)
  const { name, tainted } = standing
  const help = `kubectl -n ${standing.namespace} describe hyperconvergeds.hco.kubevirt.io ${name}`
  const judged = judge(hco, standing, updating)
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
function judge(hco: HyperConverged, standing: HyperConvergedStanding, updating: boolean): Judged {
  const { good, why, operatorVersion = 'of no version yet', current } = standing
  if (good) return { verdict: 'Settled', says: operatorVersion }
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
export async function takeWhatIsAbove(reader: Reader): Promise<void> {
  const [onPlatform, mayHaveOne] = await Promise.all([isPlatform(reader), hasHyperConverged(reader)])
  if (!onPlatform && !mayHaveOne) return
  await Promise.all([
    onPlatform ? takePlatform(reader) : undefined,
    takeLifecycle(reader),
    findHyperConverged(reader),
  ])
}
