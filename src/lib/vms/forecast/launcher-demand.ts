import type { KubeVirt, VirtualMachineInstance } from '../../kube/kinds/kubevirt-kinds.ts'
import type { NodeTerm, Toleration } from './node-placement.ts'
import type { Places } from './cluster-room.ts'
import { guestMemory } from '../../kubevirt/vm-tally.ts'
import { quantity } from '../../kube/quantity.ts'

/** Required (anti-)affinity to pods, as the VMI has it. */
export interface PodTerm {
  topologyKey: string
  /** A label selector in kubectl's words. */
  labels: string
  namespaces: readonly string[]
  apart: boolean
}

/** A claim whose volume can be used on some nodes only. */
export interface BoundVolume {
  claim: string
  terms: readonly NodeTerm[]
}

/** What a launcher pod of a VMI asks of the node that it is to run on. */
export interface Demand {
  resources: Resources
  selector: Readonly<Record<string, string>>
  /** Labels `PREFIX/VALUE=true` of the node, and what each means to a person. */
  labels: readonly { key: string; means: string }[]
  tolerations: readonly Toleration[]
  nodeTerms: readonly NodeTerm[]
  podTerms: readonly PodTerm[]
  /** Read only where the pod is to end first: who migrates takes none along. */
  volumes?: readonly BoundVolume[]
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
type Required<T> = { [required]?: T }

interface Affinity {
  nodeAffinity?: Required<{ nodeSelectorTerms?: NodeTerm[] }>
  podAffinity?: Required<RawPodTerm[]>
  podAntiAffinity?: Required<RawPodTerm[]>
}

interface Scheduling {
  nodeSelector?: Readonly<Record<string, string>>
  tolerations?: Toleration[]
  affinity?: Affinity
}

interface RawPodTerm {
  topologyKey?: string
  labelSelector?: LabelSelector
  namespaces?: string[]
  namespaceSelector?: unknown
}

/** `from`: labels of the node where it runs, by which KubeVirt chooses the CPU of the target. Pure. */
export function demandOf(
  vmi: VirtualMachineInstance,
  sharing: Sharing,
  from: Readonly<Record<string, string>> | undefined,
): Demand {
  const { tolerations = [], affinity = {}, nodeSelector = {} } = (vmi.spec ?? {}) as Scheduling
  return {
    resources: launcherResources(vmi, sharing),
    selector: nodeSelector,
    labels: neededLabels(vmi, from ?? {}),
    tolerations,
    nodeTerms: affinity.nodeAffinity?.[required]?.nodeSelectorTerms ?? [],
    podTerms: podTerms(affinity, vmi.metadata.namespace ?? ''),
  }
}

function podTerms({ podAffinity, podAntiAffinity }: Affinity, own: string): PodTerm[] {
  return [
    ...(podAffinity?.[required] ?? []).flatMap((term) => podTerm(term, own, false)),
    ...(podAntiAffinity?.[required] ?? []).flatMap((term) => podTerm(term, own, true)),
  ]
}

/** One that selects namespaces by their labels is not judged. */
function podTerm(
  { topologyKey = '', labelSelector, namespaces, namespaceSelector }: RawPodTerm,
  own: string,
  apart: boolean,
): PodTerm[] {
  if (labelSelector === undefined || namespaceSelector !== undefined) return []
  const places = namespaces?.length ? namespaces : [own]
  return [{ topologyKey, labels: selectorText(labelSelector), namespaces: places, apart }]
}

const hostModel = 'host-model-cpu.node.kubevirt.io/'
const machineType = 'machine-type.node.kubevirt.io/'

/** lab "Seen with workloads" 8. What the node of today does not tell is not asked of another one. */
function neededLabels(vmi: VirtualMachineInstance, from: Readonly<Record<string, string>>): Demand['labels'] {
  const { cpu } = domainOf(vmi)
  const { machine } = (vmi.status ?? {}) as { machine?: { type?: string } }
  const all = Object.keys(from)
  const tells = (prefix: string) => all.some((key) => key.startsWith(prefix))
  const type = machine?.type
  return [
    ...cpuLabels(cpu?.model, all),
    ...(type && tells(machineType) ? [{ key: machineType + type, means: `machine type ${type}` }] : []),
    ...(cpu?.dedicatedCpuPlacement ? [{ key: 'cpumanager', means: 'a CPU manager' }] : []),
  ]
}

function cpuLabels(model: string | undefined, labels: readonly string[]): Demand['labels'] {
  if (model === undefined || model === 'host-model') {
    const host = labels.find((key) => key.startsWith(hostModel))?.slice(hostModel.length)
    if (host === undefined) return []
    return [{ key: `cpu-model-migration.node.kubevirt.io/${host}`, means: `CPU model ${host}` }]
  }
  if (model === 'host-passthrough' || !labels.some((key) => key.startsWith('cpu-model.node.kubevirt.io/')))
    return []
  return [{ key: `cpu-model.node.kubevirt.io/${model}`, means: `CPU model ${model}` }]
}

/**
 * What its pod asks of a node once it ends and is started again. Unlike a migration a start asks for what was configured: `host-model` is
 * whatever the node has. What no node tells is not asked (night W2). Pure.
 */
export function startDemandOf(vmi: VirtualMachineInstance, sharing: Sharing, places: Places): Demand {
  const demand = demandOf(vmi, sharing, undefined)
  const { machine, cpu } = domainOf(vmi)
  const needed = (prefix: string, value: string | undefined, what: string) =>
    value && places.tell(prefix) ? [{ key: prefix + value, means: `${what} ${value}` }] : []
  const model = whateverTheNodeHas.has(cpu?.model ?? '') ? undefined : cpu?.model
  return {
    ...demand,
    labels: [
      ...demand.labels,
      ...needed('machine-type.node.kubevirt.io/', machine?.type, 'machine type'),
      ...needed('cpu-model.node.kubevirt.io/', model, 'CPU model'),
    ],
  }
}

const whateverTheNodeHas: ReadonlySet<string> = new Set(['host-model', 'host-passthrough'])

/** By the name of the resource; memory in bytes, CPU in cores. */
export type Resources = Readonly<Record<string, number>>

/** Ratios by which KubeVirt lets guests share a node (configuration.developerConfiguration). */
export interface Sharing {
  cpuAllocationRatio: number
  /** In percent. */
  memoryOvercommit: number
}

/** KubeVirt's defaults where the CR says nothing (KV:pkg/virt-config). */
export function sharingOf(kubevirt: KubeVirt | undefined): Sharing {
  const set = (kubevirt?.spec?.configuration?.['developerConfiguration'] ?? {}) as Record<string, unknown>
  return {
    cpuAllocationRatio: positive(set['cpuAllocationRatio'], 10),
    memoryOvercommit: positive(set['memoryOvercommit'], 100),
  }
}

const positive = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && value > 0 ? value : otherwise

/** The part of a VMI's domain that decides where its pod can run. */
interface Domain {
  machine?: { type?: string }
  cpu?: {
    model?: string
    cores?: number
    sockets?: number
    threads?: number
    dedicatedCpuPlacement?: boolean
  }
  memory?: { hugepages?: { pageSize?: string }; guest?: string }
  resources?: { requests?: Record<string, string> }
  devices?: { hostDevices?: Device[]; gpus?: Device[] }
}

interface Device {
  deviceName?: string
}

export const domainOf = ({ spec }: VirtualMachineInstance): Domain => spec?.domain ?? {}

const mebi = 2 ** 20

/**
 * What its pod asks for at least: what the guest is given, and what KubeVirt adds for itself (KV:pkg/virt-controller/services,
 * GetMemoryOverhead, its fixed parts). Pure.
 */
export function launcherResources(vmi: VirtualMachineInstance, sharing: Sharing): Resources {
  const domain = domainOf(vmi)
  const { requests = {} } = domain.resources ?? {}
  const vcpus = vcpusOf(domain)
  const guest = guestMemory(vmi)
  const ratio = domain.cpu?.dedicatedCpuPlacement ? 1 : sharing.cpuAllocationRatio
  const memory = quantity(requests['memory']) ?? (guest * 100) / sharing.memoryOvercommit
  return {
    pods: 1,
    cpu: quantity(requests['cpu']) ?? vcpus / ratio,
    memory: (isHuge(domain) ? 0 : memory) + (220 + 8 * vcpus) * mebi + guest / 512,
    ...hugePages(domain),
    ...devicesOf(domain),
  }
}

function vcpusOf({ cpu: { cores = 1, sockets = 1, threads = 1 } = {} }: Domain): number {
  return cores * sockets * threads
}

const isHuge = ({ memory }: Domain): boolean => memory?.hugepages !== undefined

function hugePages({ memory, resources }: Domain): Resources {
  const size = memory?.hugepages?.pageSize
  if (size === undefined) return {}
  return { [`hugepages-${size}`]: quantity(memory?.guest ?? resources?.requests?.['memory']) ?? 0 }
}

function devicesOf({ devices: { hostDevices = [], gpus = [] } = {} }: Domain): Resources {
  const counts: Record<string, number> = {}
  for (const { deviceName } of [...hostDevices, ...gpus])
    if (deviceName) counts[deviceName] = (counts[deviceName] ?? 0) + 1
  return counts
}

/** A LabelSelector as objects have it. */
interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

/** The same in kubectl's words; empty selects everything. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join()})`
  })
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join()
}
