import type { Reader } from '../../cluster/cluster.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import { isNotFound } from '../../system/errors.ts'
import { clusterEvictionOf } from '../../workloads/cluster-eviction.ts'
import { launcherResources, type Sharing, sharingOf } from '../../workloads/forecast/launcher-resources.ts'
import { type Place, type Places, readPlaces } from '../../workloads/forecast/places.ts'
import { effectiveEviction } from '../../workloads/outdated/decision.ts'
import { vmName } from '../../workloads/vm-name.ts'

/** What a pool's drains will meet, node after node (night E5). */
export interface DrainRoom {
  /** `namespace/name` of VMs that refuse to be evicted: each holds its node's drain up for ever. */
  blocking: readonly string[]
  /** The node whose VMs ask for the most memory, where the other nodes together have less. */
  tooSmall?: { node: string; asks: number; free: number }
}

/** Only the drains of one node at a time are judged, by memory: where each VM goes is for the forecast. Throws ApiError. */
export async function drainRoom(
  reader: Reader,
  kubevirt: KubeVirt,
  nodes: ReadonlySet<string>,
): Promise<DrainRoom> {
  const load = await loadOf(reader, kubevirt, nodes)
  const [largest] = [...load.memory].toSorted(([, a], [, b]) => b - a)
  if (largest === undefined) return { blocking: load.blocking }
  const [node, asks] = largest
  const free = await freeBeside(await readPlaces(reader), node)
  if (free === undefined || asks <= free) return { blocking: load.blocking }
  return { blocking: load.blocking, tooSmall: { node, asks, free } }
}

interface Load {
  blocking: readonly string[]
  /** Of what moves, in bytes by node. */
  memory: ReadonlyMap<string, number>
}

async function loadOf(reader: Reader, kubevirt: KubeVirt, nodes: ReadonlySet<string>): Promise<Load> {
  const sharing = sharingOf(kubevirt)
  const clusterEviction = clusterEvictionOf(kubevirt)
  const blocking: string[] = []
  const memory = new Map<string, number>()
  for await (const vmi of running(reader)) {
    const node = vmi.status?.nodeName ?? ''
    if (!nodes.has(node)) continue
    const strategy = effectiveEviction(vmi, { clusterEviction })
    if (isDenied(vmi, strategy)) blocking.push(vmName(vmi))
    else memory.set(node, (memory.get(node) ?? 0) + memoryOf(vmi, sharing))
  }
  return { blocking, memory }
}

async function* running(reader: Reader): AsyncGenerator<VirtualMachineInstance> {
  try {
    for await (const { items } of reader.pages(VirtualMachineInstances))
      yield* items.filter(({ status }) => status?.phase === 'Running')
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

const isDenied = (vmi: VirtualMachineInstance, strategy: string | undefined): boolean =>
  strategy === 'LiveMigrate' && condition(vmi, 'LiveMigratable')?.status === 'False'

const memoryOf = (vmi: VirtualMachineInstance, sharing: Sharing): number =>
  launcherResources(vmi, sharing)['memory'] ?? 0

/** Undefined where the room on a node is not known. */
async function freeBeside(places: Places, node: string): Promise<number | undefined> {
  const others = places.nodes.filter((place) => place.metadata.name !== node && takesVms(place))
  const free = await Promise.all(others.map((place) => places.freeOn(place)))
  if (free.includes(undefined)) return undefined
  return free.reduce((sum, one) => sum + Math.max(0, one?.['memory'] ?? 0), 0)
}

function takesVms({ metadata, spec, status }: Place): boolean {
  const isReady = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  return isReady && spec?.unschedulable !== true && metadata.labels?.['kubevirt.io/schedulable'] === 'true'
}
