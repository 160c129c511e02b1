import { onTestFinished } from 'vitest'
import type { Cluster } from '../../../../src/lib/cluster/cluster.ts'
import {
  type ClusterOperator,
  ClusterOperators,
  type ClusterVersion,
  ClusterVersions,
  type DesiredUpdate,
  type MachineConfigPool,
  MachineConfigPools,
} from '../../../../src/lib/cluster/kinds/openshift.ts'
import { type Node, Nodes } from '../../../../src/lib/cluster/kinds/core.ts'
import type { KubeObject } from '../../../../src/lib/cluster/object.ts'
import { storeCluster } from '../../../../src/lib/simulator/api/client.ts'
import { seed } from '../../../../src/lib/simulator/api/seed.ts'
import { Store } from '../../../../src/lib/simulator/api/store.ts'
import { SimClock } from '../../../../src/lib/simulator/clock.ts'
import { Faults, type MachineryFaults } from '../../../../src/lib/simulator/machinery/faults.ts'
import { seeded } from '../../../../src/lib/simulator/machinery/luck.ts'
import { runMachinery } from '../../../../src/lib/simulator/machinery/machinery.ts'
import type { OpenShiftFaults } from '../../../../src/lib/simulator/openshift/faults.ts'
import { ocp418to420 } from '../../../../src/lib/simulator/openshift/graphs.ts'
import { openShiftKinds } from '../../../../src/lib/simulator/openshift/kinds.ts'
import { openShiftObjects } from '../../../../src/lib/simulator/openshift/objects.ts'
import { runOpenShift } from '../../../../src/lib/simulator/openshift/openshift.ts'
import { serveReleaseVersion } from '../../../../src/lib/simulator/openshift/server-version.ts'
import type { OpenShiftShape } from '../../../../src/lib/simulator/openshift/shape.ts'
import { serveVirtApi } from '../../../../src/lib/simulator/virt-operator/virt-controller/subresources.ts'

export const minute = 60_000

export interface Platform extends Cluster {
  store: Store
  clock: SimClock
  faults: Faults<MachineryFaults & OpenShiftFaults>
  version(): Promise<ClusterVersion & { status: NonNullable<ClusterVersion['status']> }>
  operator(name: string): Promise<ClusterOperator>
  pool(name: string): Promise<MachineConfigPool & { status: NonNullable<MachineConfigPool['status']> }>
  nodes(): Promise<Node[]>
  desire(update: DesiredUpdate | null): Promise<unknown>
  channel(channel: string): Promise<unknown>
  pause(pool: string, paused: boolean): Promise<unknown>
}

/** A platform without any KubeVirt, with the machines of its topology where one is said, settled for two minutes; ends with the test. `evictions` are held to disruption budgets. */
export async function platform(
  change: Partial<OpenShiftShape> = {},
  {
    objects = [],
    faults: on = {},
    evictions = false,
  }: { objects?: readonly KubeObject[]; faults?: OpenShiftFaults; evictions?: boolean } = {},
): Promise<Platform> {
  const { pools: _, ...bare } = ocp418to420
  const shape = { ...(change.topology === undefined ? ocp418to420 : bare), ...change }
  const clock = new SimClock()
  const store = new Store(clock)
  for (const kind of openShiftKinds(shape)) store.kinds.add(kind)
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
  seed(store, [home, ...openShiftObjects(shape), ...objects])
  serveReleaseVersion(store, shape)
  if (evictions) serveVirtApi(store)
  const faults = new Faults<MachineryFaults & OpenShiftFaults>(on)
  const cluster = storeCluster(store)
  run({ store, clock, faults, shape })
  await clock.sleep(2 * minute)
  return { ...cluster, store, clock, faults, ...looks(cluster) }
}

interface World {
  store: Store
  clock: SimClock
  faults: Faults<MachineryFaults & OpenShiftFaults>
  shape: OpenShiftShape
}

function run({ store, clock, faults, shape }: World): void {
  const end = new AbortController()
  const bugs: unknown[] = []
  const { reader, writer } = storeCluster(store, { fieldManager: 'platform' })
  const cx = { reader, writer, clock, random: seeded(7), signal: end.signal }
  const broken = (error: unknown) => bugs.push(error)
  const running = Promise.all([
    runMachinery(cx, { faults, programOf: () => undefined, broken }),
    runOpenShift(cx, shape, faults).catch(broken),
  ])
  onTestFinished(async () => {
    end.abort()
    await running
    if (bugs.length > 0) throw bugs[0]
  })
}

function looks({ reader, writer }: Cluster) {
  const name = 'version'
  const version = async () =>
    (await reader.list(ClusterVersions))[0] as Awaited<ReturnType<Platform['version']>>
  return {
    version,
    operator: async (which: string) => (await reader.list(ClusterOperators, { name: which }))[0]!,
    pool: async (which: string) =>
      (await reader.list(MachineConfigPools, { name: which }))[0] as Awaited<ReturnType<Platform['pool']>>,
    nodes: () => reader.list(Nodes),
    desire: (desiredUpdate: DesiredUpdate | null) =>
      writer.mergePatch(ClusterVersions, { name }, { spec: { desiredUpdate } }),
    channel: (channel: string) => writer.mergePatch(ClusterVersions, { name }, { spec: { channel } }),
    pause: (pool: string, paused: boolean) =>
      writer.mergePatch(MachineConfigPools, { name: pool }, { spec: { paused } }),
  }
}
