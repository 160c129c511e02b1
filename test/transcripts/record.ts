import type { Kind } from '../../src/lib/cluster/kind.ts'
import { DaemonSets, Deployments, Jobs } from '../../src/lib/cluster/kinds/apps.ts'
import { Events } from '../../src/lib/cluster/kinds/core.ts'
import { KubeVirts } from '../../src/lib/cluster/kinds/kubevirt.ts'
import { Pods } from '../../src/lib/cluster/kinds/pods.ts'
import {
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../src/lib/cluster/kinds/virtual-machines.ts'
import type { SimulatedCluster } from '../../src/lib/simulator/simulate.ts'
import type { Clock } from '../../src/lib/system/clock.ts'
import type { Line } from './read.ts'

const kinds: readonly Kind[] = [
  KubeVirts,
  Deployments,
  DaemonSets,
  Jobs,
  Pods,
  Events,
  VirtualMachineInstances,
  VirtualMachineInstanceMigrations,
]

/** Writes down what a simulated cluster does, in the format of the recorded transcripts. */
export function record(
  simulated: SimulatedCluster,
  clock: Clock,
): { lines: Line[]; note: (text: string) => void } {
  const lines: Line[] = []
  const start = clock.now().getTime()
  const t = () => clock.now().getTime() - start
  for (const kind of kinds) {
    for (const object of simulated.store.list(kind).items) lines.push({ t: 0, type: 'ADDED', object })
    simulated.store.watch(kind, ({ type, object }) => lines.push({ t: t(), type, object }))
  }
  return { lines, note: (note) => lines.push({ t: t(), note }) }
}
