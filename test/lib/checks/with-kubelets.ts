import { storeCluster } from '../../../src/lib/simulator/api/client.ts'
import type { Store } from '../../../src/lib/simulator/api/store.ts'
import { SimClock } from '../../../src/lib/simulator/clock.ts'
import { Faults, type MachineryFaults } from '../../../src/lib/simulator/machinery/faults.ts'
import { runKubelet } from '../../../src/lib/simulator/machinery/kubelet.ts'
import { seeded } from '../../../src/lib/simulator/machinery/luck.ts'
import type { Clock } from '../../../src/lib/system/clock.ts'

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
