import type { Reader, ServerVersion } from '../kube/cluster.ts'
import {
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  type Job,
  Jobs,
  type Pod,
  Pods,
  type ReplicaSet,
  ReplicaSets,
} from '../kube/kinds/workload-kinds.ts'
import { type Event, Events, type Lease, Leases, type Node, Nodes } from '../kube/kinds/core-kinds.ts'
import {
  type KubeVirt,
  KubeVirts,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../kube/kinds/kubevirt-kinds.ts'
import type { Clock } from '../kube/clock.ts'
import { isOperand, isOperator, operatorName, podsBesideVms } from './installed-components.ts'
import { itemsOf, type Known, known, notAsked } from '../kube/known.ts'
import { countWorkloads, type WorkloadCount } from './vm-tally.ts'
import { atVersion } from '../kube/object.ts'
import { isNotFound } from '../kube/errors.ts'

/** What was seen of an installation, as plain JSON. Every part is known or not; the judgements over it are pure. */
export interface Snapshot {
  /** RFC 3339. */
  takenAt: string
  serverVersion?: ServerVersion
  kubevirts: Known<KubeVirt>
  /** The virt-operator Deployments. */
  operators: Known<Deployment>
  /** What virt-operator manages; its own Deployment is in `operators`. */
  deployments: Known<Deployment>
  daemonsets: Known<DaemonSet>
  /** Of KubeVirt's namespace: a pod belongs to a Deployment by its ReplicaSet. */
  replicaSets: Known<ReplicaSet>
  /** Of KubeVirt's namespace, those of VMs excepted: whose they are tells who controls them, no label (`podsOf`). */
  pods: Known<Pod>
  /** Install-strategy Jobs. */
  jobs: Known<Job>
  leases: Known<Lease>
  nodes: Known<Node>
  /** Warnings in KubeVirt's namespace. */
  events: Known<Event>
  /** Unfinished ones, of every namespace. */
  migrations: Known<VirtualMachineInstanceMigration>
  /** One item. */
  workloads: Known<WorkloadCount>
}

type Always = 'takenAt' | 'kubevirts' | 'operators' | 'deployments'
export type Part = Exclude<keyof Snapshot, Always>

/** What `standing` judges by. */
export const standingParts: readonly Part[] = ['daemonsets', 'replicaSets', 'pods', 'jobs', 'leases']
/** What it names causes with, when something is not as it should be. */
export const causeParts: readonly Part[] = ['nodes', 'events']

/**
 * Reads the wanted parts in parallel, only in KubeVirt's namespace where that is enough; KubeVirts and Deployments
 * always. Two round trips, or one where `namespace` is known from an earlier look. It was taken when the KubeVirts were there:
 * before the first answer nobody knows the cluster's time. A 403 or 404 makes a part unknown, any other ApiError is thrown.
 */
export async function takeSnapshot(
  reader: Reader,
  wants: readonly Part[],
  clock: Pick<Clock, 'now'>,
  namespace?: string,
): Promise<Snapshot> {
  const listed = findKubeVirts(reader)
  const everywhere = clusterWide(reader, wants)
  // Awaited last; an early failure of it must not go unhandled until then.
  everywhere.catch(() => undefined)
  const home = namespace ?? homeOf(await listed)
  const [{ kubevirts, takenAt }, deployments, narrow, wide] = await Promise.all([
    listed.then((found) => ({ kubevirts: found, takenAt: clock.now().toISOString() })),
    known(reader.list(Deployments, home === undefined ? { name: operatorName } : { namespace: home })),
    home === undefined ? {} : inNamespace(reader, wants, home),
    everywhere,
  ])
  return {
    ...nothing,
    ...wide,
    ...narrow,
    takenAt,
    kubevirts,
    operators: only(deployments, isOperator),
    deployments: only(deployments, isOperand),
  }
}

/** The same look with more parts, taken now: one round trip. Parts that are there already are not read again. */
export async function withParts(
  reader: Reader,
  snapshot: Snapshot,
  wants: readonly Part[],
): Promise<Snapshot> {
  const home = homeOf(snapshot.kubevirts)
  const [wide, narrow] = await Promise.all([
    clusterWide(reader, wants),
    home === undefined ? {} : inNamespace(reader, wants, home),
  ])
  return { ...snapshot, ...wide, ...narrow }
}

type Parts = Partial<Snapshot>

/** The namespace of KubeVirt; of several, that of the one that a virt-operator follows. */
export function homeOf(kubevirts: Known<KubeVirt>): string | undefined {
  const items = itemsOf(kubevirts)
  return (items.find((kv) => kv.status?.operatorVersion) ?? items[0])?.metadata.namespace
}

const nothing = {
  daemonsets: notAsked,
  replicaSets: notAsked,
  pods: notAsked,
  jobs: notAsked,
  leases: notAsked,
  nodes: notAsked,
  events: notAsked,
  migrations: notAsked,
  workloads: notAsked,
} as const

async function inNamespace(reader: Reader, wants: readonly Part[], namespace: string): Promise<Parts> {
  return gather(wants, {
    daemonsets: async () => (await reader.list(DaemonSets, { namespace })).filter(isOperand),
    replicaSets: () => reader.list(ReplicaSets, { namespace }),
    pods: () => reader.list(Pods, { namespace, labels: podsBesideVms }),
    jobs: () => reader.list(Jobs, { namespace, labels: 'kubevirt.io/install-strategy' }),
    leases: () => reader.list(Leases, { namespace }),
    events: () => reader.list(Events, { namespace, fields: 'type=Warning' }),
  })
}

async function clusterWide(reader: Reader, wants: readonly Part[]): Promise<Parts> {
  const [parts, serverVersion] = await Promise.all([
    gather(wants, {
      nodes: () => reader.list(Nodes),
      migrations: () => unfinishedMigrations(reader),
      workloads: async () => [await countWorkloads(reader)],
    }),
    wants.includes('serverVersion') ? reader.version() : undefined,
  ])
  return serverVersion ? { ...parts, serverVersion } : parts
}

async function gather(
  wants: readonly Part[],
  how: Partial<Record<Part, () => Promise<readonly unknown[]>>>,
): Promise<Parts> {
  const found: Partial<Record<keyof Snapshot, unknown>> = {}
  const asked = wants.map(async (part) => {
    const read = how[part]
    if (read) found[part] = await known(read())
  })
  await Promise.all(asked)
  return found as Parts
}

function only<T>(part: Known<T>, fits: (item: T) => boolean): Known<T> {
  return part.known ? { known: true, items: part.items.filter(fits) } : part
}

/** Every KubeVirt CR, read as v1 or, where that is not served yet, as v1alpha3 (night U7). None where neither is served. */
export function findKubeVirts(reader: Reader): Promise<Known<KubeVirt>> {
  return known(listServed(reader))
}

async function listServed(reader: Reader): Promise<readonly KubeVirt[]> {
  for (const version of ['v1', 'v1alpha3']) {
    try {
      return await reader.list(atVersion(KubeVirts, version))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  return []
}

/** Whoever made it, and in whatever phase: only Succeeded and Failed are ends. */
function isUnfinished(migration: VirtualMachineInstanceMigration): boolean {
  const phase = migration.status?.phase
  return phase !== 'Succeeded' && phase !== 'Failed'
}

/** Of every namespace, folded page by page. Throws ApiError. */
export async function unfinishedMigrations(reader: Reader): Promise<VirtualMachineInstanceMigration[]> {
  const found: VirtualMachineInstanceMigration[] = []
  for await (const page of reader.pages(VirtualMachineInstanceMigrations))
    found.push(...page.items.filter(isUnfinished))
  return found
}
