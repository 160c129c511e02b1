import { blocked, usageError } from '../kube/errors.ts'
import type { Clock } from '../kube/clock.ts'
import { type Reader, readerWith } from '../kube/cluster.ts'
import { filled, itemsOf, type Known, known, whyUnknown } from '../kube/known.ts'
import { condition, isRecord, type KubeObject, type Metadata } from '../kube/object.ts'
import {
  type Node,
  type PodDisruptionBudget,
  PodDisruptionBudgets,
  ResourceQuotas,
} from '../kube/kinds/core-kinds.ts'
import {
  KubeVirts,
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../kube/kinds/kubevirt-kinds.ts'
import { knowsMigrationNames, rollToCome } from '../kubevirt/component-status.ts'
import { componentLabel, podsOutsideVms } from '../kubevirt/installed-components.ts'
import { hasOwnLayers, type Installation, theInstallation } from '../kubevirt/installation.ts'
import { homeOf, type Snapshot, takeSnapshot } from '../kubevirt/snapshot.ts'
import { valueAt } from '../kube/server-side-apply.ts'
import { counted } from '../kube/text.ts'
import { type Pod, Pods } from '../kube/kinds/workload-kinds.ts'
import { isPlatform } from '../openshift/layers.ts'
import type { Method } from '../releases/hop-findings.ts'
import { compareMinors } from '../releases/release-versions.ts'
import type { ClusterShape } from '../../simulator/cluster-shape.ts'
import type { SimulationFaults } from '../../simulator/simulated-cluster.ts'
import { lastMigration } from '../vms/forecast/migration-time.ts'
import { vmName } from '../vms/vm.ts'
import { withoutOwnKeys } from '../../simulator/own-keys.ts'
import { outcomeAnnotations } from '../../simulator/vm-shape.ts'

/** What a simulated cluster has to be made of, so that it is the twin of a cluster. */
export interface ClusterTwin {
  shape: ClusterShape
  /** The KubeVirt that it is the twin of, and the operator that looks after it. */
  installation: Installation
  /** VMs, their instances, PodDisruptionBudgets and ResourceQuotas, as they are to be put into the settled twin. */
  inhabitants: readonly KubeObject[]
  /** What is wrong in the cluster now, and so in its twin: nodes that are not ready. */
  faults: SimulationFaults
  counts: { nodes: number; running: number; vms: number }
  /** What of this cluster is not in it, a sentence for each. */
  missing: readonly string[]
}

/**
 * Reads a cluster, running or saved, as its twin is made of it. Throws `blocked` (exit 3) for a cluster that cannot be played: without KubeVirt, with several, with one that HyperConverged or OLM
 * brings (`instead`: the line that says there what an upgrade would do), and in the middle of an update; `usage` where a saved cluster lacks what a twin needs; ApiError where the cluster does not answer.
 */
export async function readClusterTwin(
  cluster: Reader,
  clock: Pick<Clock, 'now'>,
  instead: string,
): Promise<ClusterTwin> {
  const reader = withoutOrders(cluster)
  const snapshot = await takeSnapshot(reader, ['nodes', 'daemonsets'], clock)
  const installation = theInstallation(snapshot)
  ensureAlone(installation, instead)
  ensureSettled(installation)
  const home = homeOf(snapshot.kubevirts) ?? installation.namespace
  const [vms, instances, budgets, quotas] = await Promise.all([
    known(reader.list(VirtualMachines)),
    known(reader.list(VirtualMachineInstances)),
    known(reader.list(PodDisruptionBudgets)),
    known(reader.list(ResourceQuotas)),
  ])
  const nodes = requirePart('nodes', snapshot.nodes)
  const running = requirePart('VMIs', instances)
  const defined = requirePart('VMs', vms)
  const byName = new Map(running.map((instance) => [vmName(instance), instance]))
  const notReady = nodes.filter((node) => condition(node, 'Ready')?.status === 'False' || isSilent(node))
  const around = { nodes, home, gitVersion: await versionOf(reader, nodes) }
  return {
    installation,
    shape: shapeOf(installation, around),
    inhabitants: [
      ...(budgets.known ? budgets.items.filter((budget) => !isOfVm(budget)) : []),
      ...(quotas.known ? quotas.items : []),
      ...defined.map((vm) => asPlayed(vm, byName.get(vmName(vm)))),
      ...running.map(asPlayedInstance),
    ],
    faults: {
      ...(isWithoutNames(snapshot) && { noMigrationNames: true }),
      ...(notReady.length > 0 && { notReady: notReady.map(({ metadata }) => metadata.name) }),
    },
    counts: { nodes: nodes.length, running: running.filter(isRunning).length, vms: defined.length },
    missing: [
      ...missingOf({ budgets, quotas, running }),
      ...((await isPlatform(reader))
        ? ['The platform: cluster operators, machine config pools and alerts of OpenShift or OKD.']
        : []),
    ],
  }
}

/** What anybody wrote into an object of the cluster is no order to the simulator: how things go in the twin is said here alone. */
const withoutOrders = (live: Reader): Reader =>
  readerWith(live, {
    async get(kind, ref) {
      const found = await live.get(kind, ref)
      return found.is === 'object' ? { is: 'object', object: withoutOwnKeys(found.object) } : found
    },
    list: async (kind, where) => (await live.list(kind, where)).map(withoutOwnKeys),
    async *pages(kind, where) {
      for await (const page of live.pages(kind, where))
        yield { ...page, items: page.items.map(withoutOwnKeys) }
    },
  })

/** Of v1.7 or later, and the further roll of virt-handler has not come: where virt-operator has widened maxUnavailable it does not come to it (lab 9). */
const isWithoutNames = ({ daemonsets }: Snapshot): boolean =>
  itemsOf(daemonsets).some(
    (set) =>
      componentLabel(set) === 'virt-handler' && rollToCome(set) !== undefined && !knowsMigrationNames(set),
  )

/** Of the API server; where it was not saved, of the newest kubelet, which is never ahead of it. */
async function versionOf(reader: Reader, nodes: readonly Node[]): Promise<string | undefined> {
  try {
    return (await reader.version()).gitVersion
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    const kubelets = nodes.flatMap(({ status }) => status?.nodeInfo?.kubeletVersion ?? [])
    return kubelets.toSorted((a, b) => compareMinors(minorOf(a), minorOf(b))).at(-1)
  }
}

const minorOf = (kubelet: string): string => /\d+\.\d+/u.exec(kubelet)?.[0] ?? '0.0'

const isSilent = (node: Node): boolean => condition(node, 'Ready')?.status === 'Unknown'
/** Its guest runs. */
export const isRunning = ({ status }: VirtualMachineInstance): boolean => status?.phase === 'Running'

/** What a twin cannot be made without. Throws `usage` where a saved cluster does not hold it, `blocked` where it may not be read. */
function requirePart<T>(what: string, part: Known<T>): readonly T[] {
  if (part.known) return part.items
  const message = `kvup cannot rehearse without ${what}: ${part.why}`
  if (/ does not contain /u.test(part.why))
    throw usageError('not-saved', message, {
      remedy: 'kvup snapshot --to-file cluster.ndjson.gz     saves everything that a rehearsal needs',
    })
  throw blocked('not-readable', message)
}

function ensureAlone({ manager }: Installation, instead: string): void {
  if (!hasOwnLayers(manager)) return
  throw blocked(
    'not-rehearsed',
    `${manager.kind === 'olm' ? 'OLM' : 'HyperConverged'} brings this KubeVirt: kvup rehearses upgrades by image tag and by the manifest of the operator`,
    { remedy: instead },
  )
}

function ensureSettled({ kubevirt }: Installation): void {
  const { observedKubeVirtVersion, targetKubeVirtVersion, phase } = kubevirt.status ?? {}
  if (
    observedKubeVirtVersion === undefined ||
    observedKubeVirtVersion !== targetKubeVirtVersion ||
    phase !== 'Deployed'
  )
    throw blocked(
      'not-settled',
      'KubeVirt is being updated: a rehearsal begins where the cluster stands still',
      { remedy: 'kvup status     says how far it is, and what to type next' },
    )
}

function shapeOf(
  installation: Installation,
  { nodes, home, gitVersion }: { nodes: readonly Node[]; home: string; gitVersion: string | undefined },
): ClusterShape {
  const { kubevirt, operator, imageTag } = installation
  const version = kubevirt.status?.observedKubeVirtVersion ?? ''
  const pinned = (operator?.pinned ?? []).map(({ env, image }): [string, string] => [env, image])
  return {
    version,
    operator: operator?.version ?? version,
    method: imageTag === undefined ? 'operator-manifest' : 'image-tag',
    ...(gitVersion !== undefined && { kubernetes: gitVersion }),
    nodes: nodes.map(asPlayedNode),
    namespace: home,
    ...(operator && { registry: operator.registry }),
    ...(pinned.length > 0 && { pinned: Object.fromEntries(pinned) }),
    kubevirt: {
      apiVersion: KubeVirts.apiVersion,
      kind: KubeVirts.kind,
      metadata: { ...identityOf(kubevirt.metadata), finalizers: ['foregroundDeleteKubeVirt'] },
      spec: kubevirt.spec ?? {},
    },
  }
}

const identityOf = ({ name, namespace, labels, annotations }: Metadata): Metadata => ({
  name,
  ...filled({ namespace, labels, annotations }),
})

/** That it is not ready comes from a fault; a label of virt-handler's is its own to write. */
function asPlayedNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const taints = (spec?.taints ?? []).filter(({ key }) => !ofNodeController.test(key))
  const { conditions: _, ...rest } = status ?? {}
  return { apiVersion, kind, metadata: identityOf(metadata), spec: { ...spec, taints }, status: rest }
}

const ofNodeController = /^node\.kubernetes\.io\/(?:not-ready|unreachable)$/u

/** Of each VM that runs KubeVirt makes one; how launchers are evicted is played by virt-api. */
const isOfVm = ({ metadata }: PodDisruptionBudget): boolean =>
  metadata.ownerReferences?.some(({ kind }) => kind === VirtualMachineInstances.kind) ?? false

function asPlayed(vm: VirtualMachine, instance: VirtualMachineInstance | undefined): VirtualMachine {
  const template = vm.spec?.template
  if (instance === undefined || template === undefined) return vm
  const outcome = outcomeOf(instance)
  const before = isRecord(template.metadata?.['annotations']) ? template.metadata['annotations'] : {}
  const metadata = { ...template.metadata, annotations: { ...before, ...outcome } }
  return { ...vm, spec: { ...vm.spec, template: { ...template, metadata } } }
}

/** One that waits for a node or an image goes on waiting: why it does is not played. */
function asPlayedInstance(instance: VirtualMachineInstance): VirtualMachineInstance {
  const { metadata, status } = instance
  const annotations = { ...metadata.annotations, ...outcomeOf(instance) }
  const phase = status?.phase === '' || status?.phase === 'Pending' ? 'Scheduling' : status?.phase
  const { migrationState: _, evacuationNodeName: __, virtualMachineRevisionName: ___, ...rest } = status ?? {}
  // No controller of the twin takes them off: an instance that is evicted would stay, and its VM would never start again.
  const { finalizers: ____, ...identity } = metadata
  return {
    ...instance,
    metadata: { ...identity, annotations },
    status: { ...rest, ...(phase !== undefined && { phase }) },
  }
}

/** How it goes when it is moved: what KubeVirt says of it, and how long its last migration took. */
function outcomeOf(instance: VirtualMachineInstance): Record<string, string> {
  const migratable = condition(instance, 'LiveMigratable')
  const took = lastMigration(instance)
  return {
    ...(migratable?.status !== 'True' && {
      [outcomeAnnotations.notMigratable]: migratable?.reason ?? 'NotJudged',
    }),
    ...(took !== undefined && { [outcomeAnnotations.migration]: `${took}s` }),
  }
}

interface Judged {
  budgets: Known<PodDisruptionBudget>
  quotas: Known<KubeObject>
  running: readonly VirtualMachineInstance[]
}

function missingOf({ budgets, quotas, running }: Judged): string[] {
  const apart = running.filter(keepsApart).length
  const waiting = running.filter(isWaiting).length
  return [
    'QEMU, libvirt, storage, networks and guests: no migration fails because of them.',
    'Pods of others: the nodes of the twin have more room than those of the cluster.',
    ...(budgets.known ? [] : [`PodDisruptionBudgets, which could not be read: ${budgets.why}.`]),
    ...(quotas.known ? [] : [`ResourceQuotas, which could not be read: ${quotas.why}.`]),
    ...(apart === 0 ? [] : [`Affinity between pods, which ${apart} VMs ask for.`]),
    ...(waiting === 0 ? [] : [`Why ${waiting} VMs do not run yet: in the twin they go on waiting.`]),
  ]
}

const keepsApart = ({ spec }: VirtualMachineInstance): boolean =>
  ['podAffinity', 'podAntiAffinity'].some((rule) => valueAt(spec, ['affinity', rule]) !== undefined)

const isWaiting = ({ status }: VirtualMachineInstance): boolean =>
  !['Running', 'Succeeded', 'Failed'].includes(status?.phase ?? '')

/** What the simulator does not reckon with, of what this cluster has and this upgrade does: a sentence for each. */
export function notSimulated(
  { inhabitants }: ClusterTwin,
  { method, to }: { method: Method; to: string },
): readonly string[] {
  const instances = inhabitants.filter(isInstance)
  const huge = instances.filter((vmi) => inDomain(vmi, 'memory', 'hugepages') !== undefined).length
  const devices = instances.filter(asksForDevices).length
  return [
    ...(instances.length === 0
      ? []
      : ['CPU: a VM finds room on a node for any number of cores, dedicated ones too.']),
    ...(huge === 0 ? [] : [`Hugepages, which ${counted(huge, 'VM', ['asks', 'ask'])} for.`]),
    ...(devices === 0
      ? []
      : [`GPUs and other devices of nodes, which ${counted(devices, 'VM', ['asks', 'ask'])} for.`]),
    ...(method === 'operator-manifest'
      ? [
          `The manifest of the release: the twin applies one of its own, so that manifest-conflicts and manifest-extras cannot show. kvup plan --to ${to} reads the real one.`,
        ]
      : []),
  ]
}

const isInstance = (object: KubeObject): object is VirtualMachineInstance =>
  object.kind === VirtualMachineInstances.kind

const inDomain = ({ spec }: VirtualMachineInstance, ...path: readonly string[]): unknown =>
  valueAt(spec, ['domain', ...path])

const isListed = (list: unknown): boolean => Array.isArray(list) && list.length > 0

const asksForDevices = (vmi: VirtualMachineInstance): boolean =>
  isListed(inDomain(vmi, 'devices', 'gpus')) ||
  isListed(inDomain(vmi, 'devices', 'hostDevices')) ||
  [inDomain(vmi, 'devices', 'interfaces')].flat().some((one) => valueAt(one, ['sriov']) !== undefined)

/** How fast the last roll-out of a cluster was, as its pods still tell. */
export interface ObservedPace {
  /** From the moment a node took up a pod to the start of its container, in seconds: pulling the image, for the most part. The middle one of all. */
  pullSeconds: number
  pods: number
}

/** Fewer pods tell of luck. */
const leastPods = 3

/** Of KubeVirt's own pods in its namespace that never restarted; undefined where they tell nothing, or cannot be read. */
export async function observePace(reader: Reader, namespace: string): Promise<ObservedPace | undefined> {
  const pods = await known(reader.list(Pods, { namespace, labels: podsOutsideVms }))
  if (!pods.known) return undefined
  const took = pods.items.flatMap(pullOf).toSorted((a, b) => a - b)
  const middle = took[Math.floor(took.length / 2)]
  return middle === undefined || took.length < leastPods
    ? undefined
    : { pullSeconds: middle, pods: took.length }
}

function pullOf({ metadata, status }: Pod): readonly number[] {
  const [container] = status?.containerStatuses ?? []
  if (
    metadata.labels?.['kubevirt.io'] === undefined ||
    container === undefined ||
    (container.restartCount ?? 0) > 0
  )
    return []
  const began = Date.parse(container.state?.running?.startedAt ?? '')
  const took = (began - Date.parse(status?.startTime ?? '')) / 1000
  return Number.isFinite(took) && took >= 0 ? [Math.round(took)] : []
}
