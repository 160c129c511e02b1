import type { Reader } from '../../cluster/cluster.ts'
import type { Node } from '../../cluster/kinds/core.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { known, type Known } from '../../facts/known.ts'
import { type Budgets, readBudgets } from './budgets.ts'
import { sharingOf, type Sharing } from './launcher-resources.ts'
import { type Policies, readPolicies } from './migration-policy.ts'
import { Neighbours } from './neighbours.ts'
import { type Places, readPlaces } from './places.ts'
import { type QuotaRoom, readQuotas } from './quota-room.ts'

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
    one(readPlaces(reader, nodes)),
    one(readQuotas(reader)),
    one(readBudgets(reader)),
    one(readPolicies(reader)),
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
      ...unread(places, 'whether the other nodes take the VMs is not judged'),
      ...unread(quotas, 'quotas are not judged'),
      ...unread(budgets, 'PodDisruptionBudgets are not judged'),
      ...unread(policies, 'MigrationPolicies are not judged'),
    ],
  }
}

const one = async <T>(work: Promise<T>): Promise<Known<T>> => known(work.then((read) => [read]))

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
export function lateRemarks({ places, neighbours }: Room): readonly string[] {
  return [
    ...(places?.unread === undefined
      ? []
      : [`the room that is left on nodes is not judged: ${places.unread}`]),
    ...(neighbours.unread === undefined ? [] : [`affinity to pods is not judged: ${neighbours.unread}`]),
  ]
}
