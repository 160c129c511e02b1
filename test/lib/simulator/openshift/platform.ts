import { onTestFinished } from 'vitest'
import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import {
  type ClusterOperator,
  ClusterOperators,
  type ClusterVersion,
  ClusterVersions,
  type DesiredUpdate,
  type MachineConfigPool,
  MachineConfigPools,
} from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { type Node, Nodes } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import type { KubeObject } from '../../../../src/lib/kube/object.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { seed, Store } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { Faults, type MachineryFaults } from '../../../../src/simulator/machinery/machinery-faults.ts'
import { seeded } from '../../../../src/simulator/machinery/controller.ts'
import { runMachinery } from '../../../../src/simulator/simulated-cluster.ts'
import type { OpenShiftFaults } from '../../../../src/simulator/openshift/platform-context.ts'
import { ocp418to420, type OpenShiftShape } from '../../../../src/simulator/openshift/openshift-shape.ts'
import { openShiftKinds, openShiftObjects } from '../../../../src/simulator/openshift/openshift-objects.ts'
import { runOpenShift } from '../../../../src/simulator/openshift/openshift.ts'
import { serveReleaseVersion } from '../../../../src/simulator/openshift/cluster-operators.ts'
import { serveVirtApi } from '../../../../src/simulator/virt-operator/virt-api.ts'

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
  return { ...cluster, store, clock, faults, ...snapshots(cluster) }
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

function snapshots({ reader, writer }: Cluster) {
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
