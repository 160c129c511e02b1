import type { Taint } from '../../kube/kinds/core-kinds.ts'
import { condition } from '../../kube/object.ts'
import type { Place, Places } from './cluster-room.ts'
import type { Reader } from '../../kube/cluster.ts'
import { Pods } from '../../kube/kinds/workload-kinds.ts'
import { readAhead } from '../../kube/read-cache.ts'
import { whyUnknown } from '../../kube/known.ts'
import type { Node, Toleration } from '../../kube/kinds/core-kinds.ts'
import { fitsTerms, type LabelSelector, type NodeTerm, selectorText, required } from '../../kube/selectors.ts'
import type { KubeVirt, VirtualMachineInstance } from '../../kube/kinds/kubevirt-kinds.ts'
import { guestMemory, machineTypeLabel } from '../../kubevirt/snapshot.ts'
import { quantity } from '../../kube/quantity.ts'
import { vcpusOf } from '../../kubevirt/vm-traits.ts'

/** Where a launcher pod is to go. */
export interface Move {
  /** The node that it leaves; `again`: the pod there ends first, so that it may come back to it. */
  from: string | undefined
  again: boolean
  uid: string
}

/** The first node that takes it, or why none does: how many refuse for which reason, the most frequent first. */
export type Placement =
  | { node: string }
  /** `isShort`: with more room on a node it would be taken. */
  | { refusals: readonly (readonly [why: string, nodes: number])[]; isShort?: boolean }

/** Looks at what needs no reading first. What may not be read refuses nothing. Throws ApiError. */
export async function placeFor(
  demand: Demand,
  { places, neighbours }: { places: Places; neighbours: Neighbours },
  move: Move,
): Promise<Placement> {
  const refusals = new Map<string, number>()
  const refuse = (why: string) => void refusals.set(why, (refusals.get(why) ?? 0) + 1)
  for (const place of places.nodes) {
    if (place.metadata.name === move.from && !move.again) continue
    const why =
      refusalByNode(place, demand) ??
      (await refusalByRoom(place, demand, { places, move })) ??
      (await neighbours.refusal(place, demand.podTerms, { places, move }))
    if (why === undefined) return { node: place.metadata.name }
    refuse(why)
  }
  return { refusals: [...refusals].toSorted(([, a], [, b]) => b - a) }
}

const placementRules: readonly ((place: Place, demand: Demand) => string | undefined | false)[] = [
  ({ spec }) => spec?.unschedulable === true && 'cordoned',
  (place) => condition(place, 'Ready')?.status !== 'True' && 'not ready',
  ({ metadata }) => metadata.labels?.['kubevirt.io/schedulable'] !== 'true' && 'virt-handler does not answer',
  (place, { tolerations }) => {
    const taint = refusingTaint(place as never, tolerations)
    return taint && `taint ${taint.key}`
  },
  ({ metadata }, { selector }) => {
    const missing = Object.entries(selector).find(([key, value]) => metadata.labels?.[key] !== value)
    return missing && `no label ${missing[0]}=${missing[1]}`
  },
  ({ metadata }, { nodeTerms }) =>
    !fitsTerms(nodeTerms, { name: metadata.name, labels: metadata.labels ?? {} }) && 'node affinity',
  ({ metadata }, { labels }) => {
    const missing = labels.find(({ key }) => metadata.labels?.[key] !== 'true')
    return missing && `without ${missing.means}`
  },
  ({ metadata }, { volumes = [] }) => {
    const place = { name: metadata.name, labels: metadata.labels ?? {} }
    const elsewhere = volumes.find(({ terms }) => !fitsTerms(terms, place))
    return elsewhere && `without the volume of claim ${elsewhere.claim}`
  },
]

/** What of a node itself keeps the pod away, whatever room there is. Pure. */
export function refusalByNode(place: Place, demand: Demand): string | undefined {
  for (const snapshot of placementRules) {
    const why = snapshot(place, demand)
    if (why) return why
  }
  return undefined
}

async function refusalByRoom(
  place: Place,
  demand: Demand,
  { places, move }: { places: Places; move: Move },
): Promise<string | undefined> {
  return refusalFor(demand, await places.freeOn(place), move.again && place.metadata.name === move.from)
}

/** What there is too little of; `back`: the pod that is there ends first. Pure. */
export function refusalFor(
  { resources }: Pick<Demand, 'resources'>,
  free: Resources | undefined,
  back: boolean,
): string | undefined {
  if (free === undefined) return undefined
  for (const name in resources) {
    const asked = resources[name] ?? 0
    if (asked > 0 && (free[name] ?? -asked) + (back ? asked : 0) < asked) return shortOf(name, free)
  }
  return undefined
}

function shortOf(name: string, free: Resources): string {
  if (name === 'pods') return 'no room for another pod'
  return free[name] === undefined ? `has no ${name}` : `not enough ${name}`
}

/** `2 cordoned, 1 not enough memory`. */
export function refusalsText(refusals: readonly (readonly [why: string, nodes: number])[]): string {
  return refusals.map(([why, nodes]) => `${nodes} ${why}`).join(', ') || 'there is no other'
}

interface Neighbour {
  node: string
  /** Of the VMI whose launcher it is. */
  vmi: string | undefined
}

/** So many selectors are remembered: VMs of one application share one, and follow each other. */
const remembered = 200

/** Pods that VMs want to be near to or apart from, selected by the server. */
export class Neighbours {
  readonly #reader: Reader
  readonly #found = new Map<string, Promise<readonly Neighbour[]>>()
  #unread: string | undefined

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Why affinity to pods is not judged; undefined where it could be. */
  get unread(): string | undefined {
    return this.#unread
  }

  /** What of its required pod affinity refuses the node. Throws ApiError but 403. */
  async refusal(
    place: Place,
    terms: readonly PodTerm[],
    { places, move }: { places: Places; move: Move },
  ): Promise<string | undefined> {
    for (const term of terms) {
      const others = (await this.#select(term)).filter(({ vmi }) => !(move.again && vmi === move.uid))
      if (this.#unread !== undefined) return undefined
      const why = refusalBy(term, metBy(place, others, { places, key: term.topologyKey }))
      // The first of a group that wants to be together may be anywhere.
      const first = move.again && others.length === 0
      if (why !== undefined && !(first && !term.apart)) return why
    }
    return undefined
  }

  async #select(term: PodTerm): Promise<readonly Neighbour[]> {
    const key = `${term.namespaces.join()} ${term.labels}`
    const known = this.#found.get(key) ?? this.#read(term)
    if (this.#found.size >= remembered) this.#found.clear()
    this.#found.set(key, known)
    return known
  }

  async #read({ namespaces, labels }: PodTerm): Promise<readonly Neighbour[]> {
    try {
      const read = namespaces.map((namespace) => neighboursIn(this.#reader, namespace, labels))
      return (await Promise.all(read)).flat()
    } catch (error) {
      this.#unread = whyUnknown(error)
      if (this.#unread === undefined) throw error
      return []
    }
  }
}

async function neighboursIn(reader: Reader, namespace: string, labels: string): Promise<Neighbour[]> {
  const found: Neighbour[] = []
  const fields = 'status.phase!=Succeeded,status.phase!=Failed'
  for await (const { items } of readAhead(reader.pages(Pods, { namespace, labels, fields })))
    for (const { spec, metadata } of items)
      if (spec?.nodeName)
        found.push({ node: spec.nodeName, vmi: metadata.labels?.['kubevirt.io/created-by'] })
  return found
}

function metBy(
  { metadata }: Place,
  others: readonly Neighbour[],
  { places, key }: { places: Places; key: string },
): boolean {
  const here = metadata.labels?.[key]
  return here !== undefined && others.some(({ node }) => places.labelsOf(node)?.[key] === here)
}

function refusalBy({ apart }: PodTerm, met: boolean): string | undefined {
  if (apart) return met ? 'pod anti-affinity' : undefined
  return met ? undefined : 'pod affinity'
}

/** The first taint that keeps a pod away; a preference keeps nobody away. */
function refusingTaint({ spec }: Node, tolerations: readonly Toleration[]): Taint | undefined {
  return spec?.taints?.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
  )
}

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (operator === 'Exists') return !key || key === taint.key
  return key === taint.key && (value ?? '') === (taint.value ?? '')
}

/** Required (anti-)affinity to pods, as the VMI has it. */
interface PodTerm {
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

const podTerms = ({ podAffinity, podAntiAffinity }: Affinity, own: string): PodTerm[] => [
  ...(podAffinity?.[required] ?? []).flatMap((term) => podTerm(term, own, false)),
  ...(podAntiAffinity?.[required] ?? []).flatMap((term) => podTerm(term, own, true)),
]

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

/** lab "Seen with workloads" 8. What the node of today does not tell is not asked of another one. */
function neededLabels(vmi: VirtualMachineInstance, from: Readonly<Record<string, string>>): Demand['labels'] {
  const { cpu } = domainOf(vmi)
  const { machine } = (vmi.status ?? {}) as { machine?: { type?: string } }
  const all = Object.keys(from)
  const tells = (prefix: string) => all.some((key) => key.startsWith(prefix))
  const type = machine?.type
  return [
    ...cpuLabels(cpu?.model, all),
    ...(type && tells(machineTypeLabel)
      ? [{ key: machineTypeLabel + type, means: `machine type ${type}` }]
      : []),
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
