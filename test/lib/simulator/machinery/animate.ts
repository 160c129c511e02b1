import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import type { KubeObject } from '../../../../src/lib/kube/object.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { seed, Store } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { type ControllerContext, seeded } from '../../../../src/simulator/machinery/controller.ts'
import { Faults, type MachineryFaults } from '../../../../src/simulator/machinery/machinery-faults.ts'
import { runMachinery } from '../../../../src/simulator/simulated-cluster.ts'
import { onTestFinished } from 'vitest'

export interface Animated extends Cluster {
  store: Store
  clock: SimClock
  faults: Faults<MachineryFaults>
  cx: ControllerContext
}

/** A bare cluster with these objects, and everything that a cluster does by itself; ends with the test. */
export function animate(objects: readonly KubeObject[], on: MachineryFaults = {}): Animated {
  const clock = new SimClock()
  const store = new Store(clock)
  seed(store, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }, ...objects])
  const cluster = storeCluster(store)
  const end = new AbortController()
  const faults = new Faults<MachineryFaults>(on)
  const bugs: unknown[] = []
  const cx = { ...cluster, clock, random: seeded(7), signal: end.signal }
  const running = runMachinery(cx, {
    faults,
    programOf: () => undefined,
    broken: (error) => bugs.push(error),
  })
  onTestFinished(async () => {
    end.abort()
    await running
    if (bugs.length > 0) throw bugs[0]
  })
  return { ...cluster, store, clock, faults, cx }
}

export const node = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/os': 'linux' } },
  ...more,
})

export const template = (image: string) => ({
  metadata: { labels: { app: 'it' } },
  spec: { containers: [{ name: 'it', image }] },
})
