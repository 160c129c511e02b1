import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { ConfigMaps, Namespaces, type Node, Nodes } from '../../src/lib/kube/kinds/core-kinds.ts'
import {
  type ClusterVersion,
  ClusterVersions,
  type MachineConfigPool,
  MachineConfigPools,
} from '../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition, type KubeObject } from '../../src/lib/kube/object.ts'
import { type ControllerContext, seeded } from '../../src/simulator/machinery/controller.ts'
import { Faults } from '../../src/simulator/machinery/machinery-faults.ts'
import { setNodeReady } from '../../src/simulator/machinery/node-lifecycle.ts'
import { ocp418to420 } from '../../src/simulator/openshift/openshift-shape.ts'
import { openShiftKinds, openShiftObjects } from '../../src/simulator/openshift/openshift-objects.ts'
import { runOpenShift } from '../../src/simulator/openshift/openshift.ts'
import { scaledClock } from '../../src/simulator/simulated-clock.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { clusterOf } from './in-process.ts'
import { type Lab, startLab } from './lab.ts'

const gate = 'ack-4.18-boot-image-opt-out-in-4.19'
const shape = {
  ...ocp418to420,
  channel: 'stable-4.19',
  pools: [
    { name: 'master', nodes: 3 },
    { name: 'worker', nodes: 1 },
  ],
  adminGates: { [gate]: 'read this first' },
  healthChecks: [],
}
/** An hour in half a minute; the limits below are of that clock, and wide: real calls take their time. */
const clock = scaledClock(systemClock, 120)
const minute = 60_000
const version = { name: 'version' }

let lab: Lab
let cluster: Cluster
let running: Promise<void>
const end = new AbortController()

/** What the kubelets of these nodes would say. */
async function start(cx: ControllerContext, { metadata, ...node }: Node): Promise<void> {
  await cx.writer.mergePatch(Nodes, metadata, { status: node.status ?? {} }, 'status')
  await setNodeReady(cx, { ...node, metadata }, true)
}

beforeAll(async () => {
  lab = await startLab({ name: 'openshift-platform', bare: true, crds: ['openshift'] })
  cluster = await clusterOf(lab)
  const { reader, writer } = cluster
  const cx = { reader, writer, clock, random: seeded(1), signal: end.signal }
  const kinds = [...openShiftKinds(ocp418to420), Nodes, Namespaces, ConfigMaps]
  const served = (object: KubeObject) =>
    kinds.find(({ kind, apiVersion }) => kind === object.kind && apiVersion === object.apiVersion)
  for (const object of openShiftObjects(shape)) {
    const kind = served(object)
    // The CRD of KubeAPIServer is not among those of the lab.
    if (kind && object.kind !== 'KubeAPIServer') await writer.create(kind, object)
    if (object.kind === 'Node') await start(cx, object)
  }
  running = runOpenShift(cx, shape, new Faults())
})

afterAll(async () => {
  end.abort()
  await running
  await lab.stop()
})

const platform = async (): Promise<ClusterVersion> =>
  (await cluster.reader.list(ClusterVersions))[0] ?? expect.fail()
const pool = async (name: string): Promise<MachineConfigPool> =>
  (await cluster.reader.list(MachineConfigPools, { name }))[0] ?? expect.fail()

async function until(what: string, minutes: number, holds: () => Promise<boolean>): Promise<void> {
  for (let passed = 0; passed < minutes; passed++) {
    if (await holds()) return
    await clock.sleep(minute)
  }
  const said = JSON.stringify((await platform()).status?.conditions, undefined, 1)
  expect.fail(`${what}: not within ${minutes} minutes of the platform's clock; it says ${said}`)
}

it('the simulated platform keeps to the real schemas: installed, with the updates of its channel', async () => {
  await until('updates are known', 10, async () => Array.isArray((await platform()).status?.availableUpdates))
  const { status } = await platform()
  expect(status?.availableUpdates?.map((release) => release.version)).toContain('4.19.14')
  await until(
    'pools are updated',
    10,
    async () => condition(await pool('worker'), 'Updated')?.status === 'True',
  )
})

/** Every list of updates that was there at some time. */
async function watched(signal: AbortSignal): Promise<unknown[]> {
  const observed: unknown[] = []
  try {
    for await (const change of cluster.reader.watch(ClusterVersions, {}, signal))
      if ('object' in change) observed.push(change.object.status?.availableUpdates)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return observed
}

it('null is kept as null while updates are fetched for another channel', async () => {
  const watch = new AbortController()
  const observed = watched(watch.signal)
  await cluster.writer.mergePatch(ClusterVersions, version, { spec: { channel: 'eus-4.18' } })
  await until('updates are known', 20, async () => (await platform()).status?.availableUpdates?.length === 1)
  watch.abort()
  expect(await observed).toContain(null)
})

it('a hop: refused while a gate is open, then by itself to its end, with a pool that is paused left alone', async () => {
  const { writer, reader } = cluster
  await writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec: { paused: true } })
  const image = shape.graph.find((release) => release.version === '4.19.14')?.image ?? ''
  const desiredUpdate = { version: '4.19.14', image }
  await writer.mergePatch(ClusterVersions, version, { spec: { desiredUpdate } })
  await until(
    'it is refused',
    10,
    async () => condition(await platform(), 'ReleaseAccepted')?.status === 'False',
  )
  expect((await platform()).status?.desired?.version).toBe('4.18.21')
  const acks = { name: 'admin-acks', namespace: 'openshift-config' }
  await writer.mergePatch(ConfigMaps, acks, { data: { [gate]: 'true' } })
  await until('the update is completed', 360, async () => {
    const [last] = (await platform()).status?.history ?? []
    return last?.version === '4.19.14' && last.state === 'Completed'
  })
  const worker = await pool('worker')
  expect([condition(worker, 'Updated')?.status, condition(worker, 'Updating')?.status]).toEqual([
    'False',
    'False',
  ])
  const nodes = await reader.list(Nodes)
  const kubelets = nodes.map(({ metadata, status }) => `${metadata.name} ${status?.nodeInfo?.kubeletVersion}`)
  expect(kubelets.sort()).toEqual([
    'master-0 v1.32.4',
    'master-1 v1.32.4',
    'master-2 v1.32.4',
    'worker-0 v1.31.7',
  ])
  await writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec: { paused: false } })
  await until(
    'the worker follows',
    60,
    async () => condition(await pool('worker'), 'Updated')?.status === 'True',
  )
})
