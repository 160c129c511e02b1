import type { VirtualMachineInstance } from '../cluster/kinds/virtual-machines.ts'
import { condition } from '../cluster/object.ts'
import { guestMemory } from './guest-memory.ts'
import { add, type Named, nobody } from './named.ts'
import { outdatedLabel } from './workload-count.ts'

/** What the checks ask of all VMIs, folded page by page: nothing of a VMI is kept but its name, and that of a hundred. */
export interface InstanceTally {
  total: number
  running: number
  outdated: number
  /** By launcher image; VMIs that do not say are not in it. */
  launchers: Record<string, number>
  /** With the reason of LiveMigratable=False; Unknown and absent count too (facts 3.2). */
  notMigratable: Named
  /** Being moved off a drained node. */
  evacuating: Named
  /** Hotplug and volume changes that workload updates would carry out (facts 5). */
  pendingChanges: Named
  /** More than one active pod, and no migration that explains it (data-corruption rule; facts 8). */
  twoLaunchers: Named
  /** The guest's file systems are frozen. */
  frozen: Named
  /** Over 47 characters: names of migration pods get too long. */
  longNames: Named
  nodes: Record<string, number>
  /** By namespace: the guest memory of the largest running VMI in bytes, without huge pages; its pod asks for more. */
  largestMemory: Record<string, number>
}

export function emptyTally(): InstanceTally {
  return {
    total: 0,
    running: 0,
    outdated: 0,
    launchers: {},
    notMigratable: nobody(),
    evacuating: nobody(),
    pendingChanges: nobody(),
    twoLaunchers: nobody(),
    frozen: nobody(),
    longNames: nobody(),
    nodes: {},
    largestMemory: {},
  }
}

const pending = ['HotVCPUChange', 'HotMemoryChange', 'VolumesChange', 'MigrationRequired']
const nameAtMost = 47

/** Adds one VMI. */
export function tallyInstance(tally: InstanceTally, vmi: VirtualMachineInstance): void {
  const name = `${vmi.metadata.namespace}/${vmi.metadata.name}`
  tally.total++
  if (vmi.metadata.labels && outdatedLabel in vmi.metadata.labels) tally.outdated++
  if (vmi.metadata.name.length > nameAtMost) add(tally.longNames, name)
  if (vmi.status?.phase === 'Running') tallyRunning(tally, vmi, name)
}

function tallyRunning(tally: InstanceTally, vmi: VirtualMachineInstance, name: string): void {
  const { launcherContainerImageVersion, nodeName } = vmi.status ?? {}
  tally.running++
  count(tally.launchers, launcherContainerImageVersion)
  count(tally.nodes, nodeName)
  const { namespace = '' } = vmi.metadata
  tally.largestMemory[namespace] = Math.max(tally.largestMemory[namespace] ?? 0, guestMemory(vmi))
  const migratable = condition(vmi, 'LiveMigratable')
  if (migratable?.status !== 'True')
    add(tally.notMigratable, `${name} (${migratable?.reason ?? 'not judged yet'})`)
  for (const [list, holds] of marks) if (holds(vmi)) add(tally[list], name)
}

function count(by: Record<string, number>, key: string | undefined): void {
  if (key) by[key] = (by[key] ?? 0) + 1
}

type Mark = 'evacuating' | 'pendingChanges' | 'twoLaunchers' | 'frozen'

const marks: readonly (readonly [Mark, (vmi: VirtualMachineInstance) => boolean])[] = [
  ['evacuating', ({ status }) => Boolean(status?.evacuationNodeName)],
  ['pendingChanges', (vmi) => pending.some((type) => condition(vmi, type)?.status === 'True')],
  ['twoLaunchers', (vmi) => Object.keys(vmi.status?.activePods ?? {}).length > 1 && !hasMigrated(vmi)],
  ['frozen', ({ status }) => status?.fsFreezeStatus === 'frozen'],
]

/**
 * Also one that is over: the launcher it left stays listed as long as its Completed pod is there (lab "Workloads" 9; setActivePods in KubeVirt), and
 * the VMI does not tell which of its pods runs.
 */
const hasMigrated = ({ status }: VirtualMachineInstance): boolean =>
  status?.migrationState?.startTimestamp !== undefined
