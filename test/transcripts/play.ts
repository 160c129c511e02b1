import type { DeepPartial } from '../../src/lib/kube/cluster.ts'
import { type KubeVirt, KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster, type Simulation } from '../../src/simulator/simulated-cluster.ts'
import type { Line } from './read.ts'
import { record } from './record.ts'

/** What a person does in a simulated cluster; every act is noted in the record. */
export interface Admin {
  wait: (seconds: number) => Promise<void>
  edit: (spec: DeepPartial<NonNullable<KubeVirt['spec']>>) => Promise<void>
  applyOperator: (version: string) => Promise<void>
  readonly simulated: SimulatedCluster
}

/** Plays a story in a simulated cluster and gives back its record. */
export async function play(
  simulation: Omit<Simulation, 'clock'>,
  story: (admin: Admin) => Promise<void>,
): Promise<Line[]> {
  const clock = new SimClock('2026-11-21T08:00:00Z')
  const simulated = await simulate({ clock, ...simulation })
  const { lines, note } = record(simulated, clock)
  const { writer } = simulated.cluster()
  await story({
    simulated,
    wait: (seconds) => clock.sleep(seconds * 1000),
    edit: async (spec) => {
      note(`edit ${JSON.stringify(spec)}`)
      await writer.mergePatch(KubeVirts, { name: 'kubevirt', namespace: 'kubevirt' }, { spec })
    },
    applyOperator: async (version) => {
      note(`apply operator ${version}`)
      for (const object of simulated.operatorManifest(version)) {
        const kind = simulated.store.kinds.ofObject(object)
        if (kind) await writer.apply(kind, object, { force: true })
      }
    },
  })
  await simulated.stop()
  return lines
}
