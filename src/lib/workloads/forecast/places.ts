import type { Reader } from '../../cluster/cluster.ts'
import { type Node, Nodes } from '../../cluster/kinds/core.ts'
import { Pods } from '../../cluster/kinds/pods.ts'
import { readAhead } from '../../cluster/read-ahead.ts'
import { whyUnknown } from '../../facts/known.ts'
import type { Resources } from './launcher-resources.ts'
import { numbersOf, podRequests } from './pod-requests.ts'

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
  readonly #free = new Map<string, Promise<Resources | undefined>>()
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
    const known = this.#told.get(prefix) ?? this.nodes.some((node) => hasLabel(node, prefix))
    this.#told.set(prefix, known)
    return known
  }

  /** Allocatable less what its pods ask for. Undefined where pods may not be read. Throws ApiError but 403. */
  async freeOn(node: Place): Promise<Resources | undefined> {
    const { name } = node.metadata
    const known = this.#free.get(name) ?? this.#read(node)
    this.#free.set(name, known)
    return known
  }

  async #read(node: Place): Promise<Resources | undefined> {
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
export async function readPlaces(reader: Reader, seen?: readonly Node[]): Promise<Places> {
  if (seen !== undefined)
    return new Places(
      reader,
      seen.filter(({ metadata }) => Object.hasOwn(metadata.labels ?? {}, watched)),
    )
  const nodes: Place[] = []
  for await (const { items } of readAhead(reader.pages(Nodes, { labels: watched })))
    nodes.push(...items.map(placeOf))
  return new Places(reader, nodes)
}

/** What is kept of a node: the images on it are most of it. */
function placeOf({ metadata, spec, status }: Node): Place {
  return {
    metadata: { name: metadata.name, ...(metadata.labels && { labels: metadata.labels }) },
    ...(spec && { spec }),
    status: {
      ...(status?.allocatable && { allocatable: status.allocatable }),
      conditions: status?.conditions?.filter(({ type }) => type === 'Ready') ?? [],
    },
  }
}

function take(free: Record<string, number>, asked: Resources): void {
  for (const [name, amount] of Object.entries(asked)) free[name] = (free[name] ?? 0) - amount
}
