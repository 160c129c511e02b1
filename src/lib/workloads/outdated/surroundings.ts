import type { Reader } from '../../cluster/cluster.ts'
import { type Node, Nodes } from '../../cluster/kinds/core.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { VirtualMachineInstanceMigrations } from '../../cluster/kinds/virtual-machines.ts'
import { launcherArgument, launcherImage, newControllerLeads } from '../../facts/controller.ts'
import { notOne } from '../../facts/installation.ts'
import { itemsOf, known } from '../../facts/known.ts'
import { type Snapshot, takeSnapshot } from '../../facts/snapshot.ts'
import type { Clock } from '../../system/clock.ts'
import { isFinished, migrationOf, vmOf } from '../migrations/migration.ts'

/** What lies around the outdated VMIs and decides over them. */
export interface Surroundings {
  /** Undefined: it may not be read; `remarks` say so. */
  kubevirt?: KubeVirt
  /** The launcher of new pods. */
  launcher?: string
  /** RFC 3339: since when new pods get it. Before that nobody was outdated because of it. */
  launcherSince?: string
  /** Target and observed differ, or no virt-controller of the target leads yet: labels and counts are not true yet (facts 3.2, lab 10, 15). */
  updating: boolean
  /** Undefined: not known. */
  nodes?: number
  migrating: ReadonlySet<string>
  /** Without these nothing can be said of what becomes of a VM. */
  unread: readonly { what: string; why: string }[]
  /** What else could not be read, and what is therefore not said. */
  remarks: readonly string[]
}

/** Reads it in two round trips, or in one where KubeVirt's own namespace, `home`, is known. Throws `blocked` where there is no KubeVirt, or several, and what the Reader throws for anything but 403 and 404. */
export async function readSurroundings(
  reader: Reader,
  clock: Pick<Clock, 'now'>,
  namespace: string | undefined,
  home?: string,
): Promise<Surroundings> {
  return readAround(reader, clock, { home, moving: unfinished(reader, namespace) })
}

/** The same, for who knows already which VMs are `moving`. Throws as `readSurroundings` does. */
export async function readAround(
  reader: Reader,
  clock: Pick<Clock, 'now'>,
  { home, moving }: { home?: string | undefined; moving: Promise<string[]> },
): Promise<Surroundings> {
  const [snapshot, nodes, migrating] = await Promise.all([
    takeSnapshot(reader, ['pods', 'leases', 'replicaSets'], clock, home),
    known(nodesForVms(reader)),
    known(moving),
  ])
  const [kubevirt] = theOne(snapshot)
  const launcher = launcherImage(snapshot)
  const launcherSince = launcher && sinceWhen(snapshot, launcher)
  return {
    ...(kubevirt && { kubevirt }),
    ...(launcher && { launcher }),
    ...(launcherSince && { launcherSince }),
    ...(nodes.known && { nodes: nodes.items.length }),
    updating: kubevirt !== undefined && (isUpdating(kubevirt) || newControllerLeads(snapshot) === false),
    migrating: new Set(itemsOf(migrating)),
    ...notKnown(snapshot, [
      ['whether there are nodes enough to migrate', nodes],
      ['which are on their way already', migrating],
    ]),
  }
}

type Part = { known: true } | { known: false; why: string }

/** Without the KubeVirt CR nothing is said, so that the rest need not be excused. */
function notKnown(
  { kubevirts }: Snapshot,
  parts: readonly (readonly [what: string, part: Part])[],
): Pick<Surroundings, 'unread' | 'remarks'> {
  if (!kubevirts.known) return { unread: [{ what: 'kubevirts', why: kubevirts.why }], remarks: [] }
  const remarks = parts.flatMap(([what, part]) => (part.known ? [] : [`${what} is not known: ${part.why}`]))
  return { unread: [], remarks }
}

function theOne({ kubevirts }: Snapshot): readonly KubeVirt[] {
  const [first, second] = itemsOf(kubevirts)
  if (kubevirts.known && first === undefined) throw notOne({ is: 'none' })
  if (first && second) {
    const found = [first, second].map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))
    throw notOne({ is: 'several', found })
  }
  return first ? [first] : []
}

/** KV:pkg/virt-controller/watch/workload-updater, execute: its gate. */
function isUpdating({ status }: KubeVirt): boolean {
  return status?.phase !== 'Deployed' || status.observedDeploymentID !== status.targetDeploymentID
}

function sinceWhen({ replicaSets }: Snapshot, launcher: string): string | undefined {
  return itemsOf(replicaSets)
    .filter((set) => (set.spec?.replicas ?? 0) > 0 && launcherArgument(set) === launcher)
    .map(({ metadata }) => metadata.creationTimestamp)
    .find((time) => time !== undefined)
}

/** Two are as good as two hundred. */
async function nodesForVms(reader: Reader): Promise<Node[]> {
  const found: Node[] = []
  for await (const { items } of reader.pages(Nodes, { labels: 'kubevirt.io/schedulable=true' })) {
    for (const node of items) if (node.spec?.unschedulable !== true) found.push(node)
    if (found.length > 1) return found
  }
  return found
}

async function unfinished(reader: Reader, namespace: string | undefined): Promise<string[]> {
  const names: string[] = []
  for await (const { items } of reader.pages(VirtualMachineInstanceMigrations, { namespace }))
    for (const migration of items.map(migrationOf)) if (!isFinished(migration)) names.push(vmOf(migration))
  return names
}
