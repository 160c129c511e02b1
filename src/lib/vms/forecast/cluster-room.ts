import type { Reader } from '../../kube/cluster.ts'
import {
  type Node,
  Nodes,
  PodDisruptionBudgets,
  type ResourceQuota,
  ResourceQuotas,
} from '../../kube/kinds/core-kinds.ts'
import type { KubeVirt, VirtualMachineInstance } from '../../kube/kinds/kubevirt-kinds.ts'
import { known, type Known, whyUnknown } from '../../kube/known.ts'
import { Neighbours, type Resources, type Sharing, sharingOf } from './launcher-placement.ts'
import { selectorTest } from '../../kube/selectors.ts'
import { type Policies, readPolicies } from './migration-time.ts'
import { type Pod, Pods } from '../../kube/kinds/workload-kinds.ts'
import { readAhead } from '../../kube/read-cache.ts'
import { quantity } from '../../kube/quantity.ts'
import { seconds } from '../../kube/clock.ts'
import type { LabelTest } from '../../kube/object.ts'
import { controllerOf } from '../vm.ts'

/** Everything besides a VM and the methods that decides whether it can go where it is to go. What could not be read refuses nothing. */
export interface Room {
  sharing: Sharing
  places?: Places
  neighbours: Neighbours
  quotas?: QuotaRoom
  budgets?: Budgets
  policies: Policies
  /** What could not be read, and what is therefore not judged. */
  remarks: readonly string[]
}

/**
 * Reads nodes, quotas, budgets and policies, in parallel, while the KubeVirt may still be on its way; pods are read where they are needed, and nodes
 * where they were not seen already. Throws ApiError but 403 and 404.
 */
export async function readRoom(
  reader: Reader,
  kubevirt: KubeVirt | undefined | Promise<KubeVirt | undefined>,
  nodes?: readonly Node[],
): Promise<Room> {
  const [places, quotas, budgets, policies, owner] = await Promise.all([
    asList(readPlaces(reader, nodes)),
    asList(readQuotas(reader)),
    asList(readBudgets(reader)),
    asList(readPolicies(reader)),
    kubevirt,
  ])
  return {
    sharing: sharingOf(owner),
    neighbours: new Neighbours(reader),
    ...first('places', places),
    ...first('quotas', quotas),
    ...first('budgets', budgets),
    policies: (policies.known && policies.items[0]) || { all: [], namespaces: new Map() },
    remarks: [
      ...unread(places, 'not checked: whether other nodes have room for the VMs'),
      ...unread(quotas, 'quotas are not checked'),
      ...unread(budgets, 'PodDisruptionBudgets are not checked'),
      ...unread(policies, 'MigrationPolicies are not checked'),
    ],
  }
}

const asList = async <T>(work: Promise<T>): Promise<Known<T>> => known(work.then((read) => [read]))

function first<K extends string, T>(key: K, part: Known<T>): { [P in K]?: T } {
  const [read] = part.known ? part.items : []
  return read === undefined ? {} : ({ [key]: read } as { [P in K]: T })
}

const unread = (part: Known<unknown>, what: string): readonly string[] =>
  part.known ? [] : [`${what}: ${part.why}`]

/** Where nodes are known, whether one takes a VM is judged for each; only where there is no second one all stay. */
export const nodesIn = ({ places }: Room): { nodes?: number } =>
  places === undefined ? {} : { nodes: places.nodes.length }

/** What turned out only on the way that it could not be read. */
export const lateRemarks = ({ places, neighbours }: Room): readonly string[] => [
  ...(places?.unread === undefined ? [] : [`the free room on nodes is not checked: ${places.unread}`]),
  ...(neighbours.unread === undefined ? [] : [`pod affinity is not checked: ${neighbours.unread}`]),
]

/** A node that runs VMs, or did. */
export type Place = Pick<Node, 'metadata' | 'spec' | 'status'>

const hasLabel = ({ metadata }: Place, prefix: string): boolean =>
  Object.keys(metadata.labels ?? {}).some((key) => key.startsWith(prefix))

/** All nodes that virt-handler looks after, and the room on them, which is read where it is asked for, and once. */
export class Places {
  readonly nodes: readonly Place[]
  readonly #reader: Reader
  readonly #byName: ReadonlyMap<string, Place>
  readonly #told = new Map<string, boolean>()
  readonly #free = new Map<string, Promise<Record<string, number> | undefined>>()
  /** The same once it is there. */
  readonly #known = new Map<string, Record<string, number>>()
  /** What is allocatable on a node, in numbers. */
  readonly #all = new Map<string, Record<string, number>>()
  /** What was taken and given of nodes that were not read yet. */
  readonly #moved = new Map<string, Record<string, number>>()
  #unread: string | undefined

  constructor(reader: Reader, nodes: readonly Place[]) {
    this.#reader = reader
    this.nodes = nodes
    this.#byName = new Map(nodes.map((node) => [node.metadata.name, node]))
  }

  /** Why the room on nodes is not judged; undefined where it could be read. */
  get unread(): string | undefined {
    return this.#unread
  }

  labelsOf(node: string | undefined): Readonly<Record<string, string>> | undefined {
    return node === undefined ? undefined : this.#byName.get(node)?.metadata.labels
  }

  /** Whether any of them has labels that begin so: what none tells is asked of none. */
  tell(prefix: string): boolean {
    const cached = this.#told.get(prefix) ?? this.nodes.some((node) => hasLabel(node, prefix))
    this.#told.set(prefix, cached)
    return cached
  }

  /** Allocatable less what its pods ask for. Undefined where pods may not be read. Throws ApiError but 403. */
  async freeOn(node: Place): Promise<Resources | undefined> {
    const { name } = node.metadata
    const cached = this.#free.get(name) ?? this.#read(node)
    this.#free.set(name, cached)
    return cached
  }

  /** The same of one that was read; undefined where it was not, or may not be. */
  freeNow({ metadata: { name } }: Place): Resources | undefined {
    return this.#known.get(name)
  }

  /** Whether its pods were asked for, with whatever answer. */
  isRead({ metadata: { name } }: Place): boolean {
    return this.#free.has(name)
  }

  /** A pod that asks for so much came to the node. */
  take(node: string, resources: Resources): void {
    const left = this.#known.get(node) ?? this.#moved.get(node) ?? {}
    if (!this.#known.has(node)) this.#moved.set(node, left)
    take(left, resources)
  }

  /** It went away. */
  give(node: string | undefined, resources: Resources): void {
    if (node === undefined) return
    const given = Object.entries(resources).map(([name, amount]) => [name, -amount] as const)
    this.take(node, Object.fromEntries(given))
  }

  /** How much of its CPU and memory is asked for, from 0 to 1; as the scheduler scores it. Where it is not known, 1. */
  usedOn({ metadata: { name }, status }: Place): number {
    const free = this.#known.get(name)
    const all = this.#all.get(name) ?? numbersOf(status?.allocatable)
    this.#all.set(name, all)
    const share = (resource: string) => {
      const most = all[resource]
      return free === undefined || !most ? 1 : 1 - (free[resource] ?? most) / most
    }
    return (share('cpu') + share('memory')) / 2
  }

  /** Empty, it had room for that. */
  couldHold({ status }: Place, resources: Resources): boolean {
    return Object.entries(resources).every(
      ([name, asked]) => asked <= 0 || (quantity(status?.allocatable?.[name]) ?? asked) >= asked,
    )
  }

  async #read(node: Place): Promise<Record<string, number> | undefined> {
    const free = await this.#readFree(node)
    if (free === undefined) return undefined
    const { name } = node.metadata
    take(free, this.#moved.get(name) ?? {}, -1)
    this.#moved.delete(name)
    this.#known.set(name, free)
    return free
  }

  async #readFree(node: Place): Promise<Record<string, number> | undefined> {
    const allocatable = node.status?.allocatable
    if (this.#unread !== undefined || allocatable === undefined) return undefined
    const free = numbersOf(allocatable)
    const fields = `spec.nodeName=${node.metadata.name},status.phase!=Succeeded,status.phase!=Failed`
    try {
      for await (const { items } of readAhead(this.#reader.pages(Pods, { fields })))
        for (const pod of items) take(free, podRequests(pod))
    } catch (error) {
      this.#unread = whyUnknown(error)
      if (this.#unread === undefined) throw error
      return undefined
    }
    return free
  }
}

const watched = 'kubevirt.io/schedulable'

/** Reads the nodes with virt-handler's label, whatever it says, where all nodes were not `seen` already. Throws ApiError. */
export async function readPlaces(reader: Reader, observed?: readonly Node[]): Promise<Places> {
  if (observed !== undefined)
    return new Places(
      reader,
      observed.filter(({ metadata }) => Object.hasOwn(metadata.labels ?? {}, watched)),
    )
  const nodes: Place[] = []
  for await (const { items } of readAhead(reader.pages(Nodes, { labels: watched })))
    nodes.push(...items.map(placeOf))
  return new Places(reader, nodes)
}

/** What is kept of a node: the images on it are most of it. */
const placeOf = ({ metadata, spec, status }: Node): Place => ({
  metadata: { name: metadata.name, ...(metadata.labels && { labels: metadata.labels }) },
  ...(spec && { spec }),
  status: {
    ...(status?.allocatable && { allocatable: status.allocatable }),
    conditions: status?.conditions?.filter(({ type }) => type === 'Ready') ?? [],
  },
})

function take(free: Record<string, number>, asked: Resources, times = 1): void {
  for (const [name, amount] of Object.entries(asked)) free[name] = (free[name] ?? 0) - times * amount
}

type Quantities = Readonly<Record<string, string>>

interface Asking {
  resources?: { requests?: Quantities }
}

/** As the scheduler counts: its containers together or its largest init container, and what its runtime takes. Pure. */
function podRequests({ spec = {} }: Pod): Resources {
  const {
    containers = [],
    initContainers = [],
    overhead,
  } = spec as { containers?: readonly Asking[]; initContainers?: readonly Asking[]; overhead?: Quantities }
  const sum: Record<string, number> = {}
  const put = (quantities: Quantities | undefined, join: (before: number, amount: number) => number) => {
    for (const [name, amount] of Object.entries(numbersOf(quantities)))
      sum[name] = join(sum[name] ?? 0, amount)
  }
  for (const { resources } of containers) put(resources?.requests, (before, amount) => before + amount)
  for (const { resources } of initContainers) put(resources?.requests, Math.max)
  put(overhead, (before, amount) => before + amount)
  return { ...sum, pods: 1 }
}

/** What is no quantity counts as 0. */
function numbersOf(quantities: Quantities = {}): Record<string, number> {
  return Object.fromEntries(Object.entries(quantities).map(([name, text]) => [name, quantity(text) ?? 0]))
}

/** How many nodes take VMs; nothing where they may not be read. Throws ApiError but 403 and 404. */
export type NodesNow = (reader: Reader, now: Date) => Promise<{ nodes?: number }>

const every = 15 * seconds

/** Asked for with every change of a VM, and listed at most every 15 s. */
export function nodesNow(): NodesNow {
  let last: { at: number; found: { nodes?: number } } | undefined
  return async (reader, now) => {
    if (last === undefined || now.getTime() - last.at >= every) {
      const places = await known(readPlaces(reader).then((one) => [one]))
      const [one] = places.known ? places.items : []
      last = { at: now.getTime(), found: one ? { nodes: one.nodes.length } : {} }
    }
    return last.found
  }
}

/** What the quotas of a namespace still allow, by namespace. */
type QuotaRoom = ReadonlyMap<string, readonly { quota: string; resource: string; left: number }[]>

/** Which part of what a pod asks for a limit of a quota counts. */
const counts: Readonly<Record<string, string>> = {
  pods: 'pods',
  'count/pods': 'pods',
  memory: 'memory',
  'requests.memory': 'memory',
  cpu: 'cpu',
  'requests.cpu': 'cpu',
}

/** Of quotas with a scope nothing is said: which pods they count depends on more than is seen here. Throws ApiError. */
async function readQuotas(reader: Reader): Promise<QuotaRoom> {
  const room = new Map<string, { quota: string; resource: string; left: number }[]>()
  for await (const { items } of readAhead(reader.pages(ResourceQuotas)))
    for (const quota of items.filter((one) => !isScoped(one))) {
      const { namespace = '', name } = quota.metadata
      const { hard = {}, used = {} } = quota.status ?? {}
      const lines = Object.entries(hard).flatMap(([resource, limit]) => {
        const most = quantity(limit)
        const now = quantity(used[resource] ?? '0')
        return counts[resource] === undefined || most === undefined || now === undefined
          ? []
          : [{ quota: name, resource, left: most - now }]
      })
      room.set(namespace, [...(room.get(namespace) ?? []), ...lines])
    }
  return room
}

function isScoped(quota: ResourceQuota): boolean {
  const { spec } = quota as { spec?: { scopes?: unknown[]; scopeSelector?: unknown } }
  return (spec?.scopes?.length ?? 0) > 0 || spec?.scopeSelector !== undefined
}

/** The quota that refuses the second pod of a migration (facts 3.3), `compute (requests.memory)`. Pure. */
export function refusedBy(room: QuotaRoom, namespace: string, asked: Resources): string | undefined {
  const refusing = room
    .get(namespace)
    ?.find(({ resource, left }) => (asked[counts[resource] ?? ''] ?? 0) > left)
  return refusing && `${refusing.quota} (${refusing.resource})`
}

interface Budget {
  name: string
  selects: LabelTest
}

/** PodDisruptionBudgets that allow no eviction now, by namespace. */
type Budgets = ReadonlyMap<string, readonly Budget[]>

/** Throws ApiError. */
async function readBudgets(reader: Reader): Promise<Budgets> {
  const found = new Map<string, Budget[]>()
  for await (const { items } of readAhead(reader.pages(PodDisruptionBudgets)))
    for (const budget of items) {
      if ((budget.status?.disruptionsAllowed ?? 1) > 0) continue
      const { namespace = '', name } = budget.metadata
      found.set(namespace, [
        ...(found.get(namespace) ?? []),
        { name, selects: selectorTest(budget.spec?.selector) },
      ])
    }
  return found
}

/** The budget that forbids the eviction of its launcher; its pod has the labels of the VMI. Pure. */
export function forbiddenBy(budgets: Budgets, vmi: VirtualMachineInstance): string | undefined {
  const { namespace = '', name, uid = '', labels } = vmi.metadata
  const owner = controllerOf(vmi)
  const own = {
    ...labels,
    'kubevirt.io': 'virt-launcher',
    'kubevirt.io/created-by': uid,
    'vmi.kubevirt.io/id': name,
    ...(owner?.kind === 'VirtualMachine' && { 'vm.kubevirt.io/name': owner.name }),
  }
  return budgets.get(namespace)?.find(({ selects }) => selects(own))?.name
}
