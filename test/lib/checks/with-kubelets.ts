import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import type { Store } from '../../../src/simulator/api/store.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { Faults, type MachineryFaults } from '../../../src/simulator/machinery/machinery-faults.ts'
import { runKubelet } from '../../../src/simulator/machinery/kubelet.ts'
import { seeded } from '../../../src/simulator/machinery/controller.ts'
import type { Clock } from '../../../src/lib/kube/clock.ts'

/** Lets kubelets pull for the pods of a cluster from a file, from that time on: what `--probe-images` makes has to be lived. */
export function withKubelets(store: Store, at: string, faults: MachineryFaults = {}): Clock {
  const clock = new SimClock(at)
  const { reader, writer } = storeCluster(store, { user: 'kubelet', groups: ['system:masters'] })
  const living = {
    reader,
    writer,
    clock,
    random: seeded(1),
    signal: new AbortController().signal,
    faults: new Faults<MachineryFaults>(faults),
    programOf: () => undefined,
    broken: (error: unknown) => {
      throw error
    },
  }
  void runKubelet(living)
  return clock
}
