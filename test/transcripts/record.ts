import type { Kind } from '../../src/lib/kube/object.ts'
import { DaemonSets, Deployments, Jobs, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { Events } from '../../src/lib/kube/kinds/core-kinds.ts'
import {
  KubeVirts,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'
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
