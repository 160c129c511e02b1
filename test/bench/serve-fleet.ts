import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import { serveSimulator } from '../../src/simulator/api/http-server.ts'
import type { SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { simulate, type Simulation } from '../../src/simulator/simulated-cluster.ts'
import { scaledClock } from '../../src/simulator/simulated-clock.ts'
import { paceExtension } from '../../src/lib/kube/http/kubeconfig.ts'

/** A cluster of a fleet on the wire, in this process. */
export interface FleetCluster {
  name: string
  uid: string
  url: string
  cluster: SimulatedCluster
  /** What its time was by this machine's clock. */
  wallTime(at: Date): Date
  stop(): Promise<void>
}

type Shape = Omit<Simulation, 'clock'>

/** Simulated clusters on loopback, each known by a uid of its own, as real ones are, and one kubeconfig with a context for each. */
export async function serveFleet(
  names: readonly string[],
  {
    kubeconfig,
    speed = 1,
    shapeOf,
  }: { kubeconfig: string; speed?: number; shapeOf: (name: string) => Shape },
): Promise<readonly FleetCluster[]> {
  const served: FleetCluster[] = []
  for (const name of names) {
    const began = systemClock.now().getTime()
    const clock = scaledClock(systemClock, speed)
    const cluster = await simulate({ clock, ...shapeOf(name) })
    const system = cluster.store.read(Namespaces, { name: 'kube-system' })
    const uid = randomUUID()
    if (system) cluster.store.put(Namespaces, { ...system, metadata: { ...system.metadata, uid } })
    const server = await serveSimulator(cluster.store)
    const stop = async () => {
      await server.close()
      await cluster.stop()
    }
    const wallTime = (at: Date) => new Date(began + (at.getTime() - began) / speed)
    served.push({ name, uid, url: server.url, cluster, wallTime, stop })
  }
  const extensions = speed === 1 ? undefined : [{ name: paceExtension, extension: { speed } }]
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: served.map(({ name, url }) => ({ name, cluster: { server: url, extensions } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: 'admin' } })),
    users: [{ name: 'admin', user: {} }],
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
  return served
}
