import type { KubeObject } from '../../src/lib/kube/object.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import {
  restart,
  simulate,
  type SimulatedCluster,
  type Simulation,
} from '../../src/simulator/simulated-cluster.ts'

/** By shape and time. */
const installed = new Map<string, Promise<readonly KubeObject[]>>()

/** What `simulate` gives, on the objects of such a cluster that has settled, of which each has a copy: to install one takes ten times as long. With `random` it is installed. */
export async function settled(simulation: Simulation): Promise<SimulatedCluster> {
  const { clock, random, faults: _, ...shape } = simulation
  if (random) return simulate(simulation)
  const began = clock.now().getTime() - restart
  const key = JSON.stringify([began, shape])
  const objects = installed.get(key) ?? install(shape, began)
  installed.set(key, objects)
  return simulate({ ...simulation, from: await objects })
}

async function install(shape: Omit<Simulation, 'clock'>, at: number): Promise<readonly KubeObject[]> {
  const simulated = await simulate({ ...shape, clock: new SimClock(new Date(at).toISOString()) })
  const objects = simulated.store.everything()
  await simulated.stop()
  return objects
}
