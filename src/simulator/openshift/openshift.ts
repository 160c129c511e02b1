import * as kube from '../kinds.ts'
import data from './platform.json' with { type: 'json' }
import { ChangeSignal, type ControllerContext, untilAborted } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { runClusterOperators, runKubeletSkew, versionsOf } from './cluster-operators.ts'
import { runClusterVersion } from './cluster-version.ts'
import {
  minute,
  type OpenShiftFaults,
  type Platform,
  platformData,
  withConditions,
  writeStatus,
} from './platform-context.ts'
import { runMachineConfigStatus, runPools, runRender } from './machine-config-controller.ts'
import { runNodeUpdates } from './machine-config-daemon.ts'
import { type OpenShiftShape, type PoolShape, releaseOf } from './openshift-shape.ts'
import type { Condition, Kind, KubeObject } from '../../lib/kube/object.ts'
import { platformRelease } from './cluster-updates.ts'
import { runHealthChecks } from './health-checks.ts'
import { machineConfigPool, machineRelease, nodesOfPool } from './openshift-objects.ts'
import { timestamp } from '../api/object-lifecycle.ts'

/**
 * Runs the platform's operators on the objects of `openShiftObjects`, until the signal ends them: cluster-version, the operators that
 * it updates, machine-config, kube-apiserver's look at the kubelets, and health checks. A client like any other.
 */
export async function runOpenShift(
  cx: ControllerContext,
  shape: OpenShiftShape,
  faults: Faults<OpenShiftFaults>,
): Promise<void> {
  const platform: Platform = { ...cx, shape, faults }
  await untilAborted(cx.signal, () => installPlatform(platform))
  const machines =
    shape.topology === 'External' ? [] : [runRender, runPools, runNodeUpdates, runMachineConfigStatus]
  const everywhere = [
    runClusterVersion,
    runClusterOperators,
    runKubeletSkew,
    runHealthChecks,
    runInterference,
  ]
  await Promise.all([...everywhere, ...machines].map((run) => run(platform)))
}

/** Long ago, so that nothing of it looks like news. */
const age = { installed: 90 * 24 * 60 * minute, updated: 30 * 24 * 60 * minute }

/** What operators say of a platform that has been there for long, where nothing is said yet. */
async function installPlatform(cx: Platform): Promise<void> {
  const { shape, clock } = cx
  const { graph, version, topology = 'HighlyAvailable' } = shape
  const release = releaseOf(graph, version)
  const since = stamp(clock.now(), age.updated)
  const conditions = (of: readonly object[]): Condition[] =>
    withConditions([], platformData<Condition[]>(of, { version }), since)
  const install = async <T extends KubeObject & { status?: object }>(
    kind: Kind<T>,
    statusOf: (object: T) => T['status'],
  ): Promise<void> => {
    for (const object of await cx.reader.list(kind))
      if (!object.status) await writeStatus(cx, kind, object, statusOf(object))
  }
  await install(kube.ClusterOperators, ({ metadata }) => ({
    versions: versionsOf(metadata.name, release ?? { version, kubernetes: '' }),
    conditions: conditions(data.settled.ClusterOperator),
  }))
  const machines = topology === 'SingleReplica' ? topology : 'HighlyAvailable'
  const infrastructure = platformData<object>(data.settled.Infrastructure, {
    controlPlane: topology,
    machines,
  })
  await install(kube.Infrastructures, () => infrastructure)
  await install(kube.ClusterVersions, ({ metadata }) => ({
    desired: release ? platformRelease(release) : { version },
    history: pastUpdates(shape, clock.now()),
    observedGeneration: metadata.generation ?? 1,
    versionHash: 'a1B2c3D4e5F=',
    availableUpdates: null,
    conditions: conditions(data.settled.ClusterVersion),
  }))
}

const stamp = (now: Date, ago: number): string => timestamp(new Date(now.getTime() - ago))

/** Installed as an older release of the graph where there is one, and updated since; the newest first. */
function pastUpdates({ graph, version }: OpenShiftShape, now: Date): kube.UpdateHistory[] {
  const before = graph.find(({ to }) => to.includes(version))
  const past = (of: string, completed: number, took: number): kube.UpdateHistory => ({
    state: 'Completed',
    version: of,
    image: releaseOf(graph, of)?.image ?? '',
    startedTime: stamp(now, completed + took * minute),
    completionTime: stamp(now, completed),
    verified: completed === age.updated,
  })
  const installed = past(before?.version ?? version, age.installed, 41)
  return before ? [past(version, age.updated, 63), installed] : [installed]
}

/** What other people do while an update is under way, when the fault is switched on: once each. */
async function runInterference(cx: Platform): Promise<void> {
  const changed = new ChangeSignal(cx.clock, cx.signal)
  cx.faults.onChange(() => changed.notify(), cx.signal)
  let unpaused: readonly string[] = []
  while (!cx.signal.aborted) {
    const { addedPool, unpausedPools = [] } = cx.faults.on
    if (addedPool) await addPool(cx, addedPool)
    for (const name of unpausedPools.filter((one) => !unpaused.includes(one)))
      await cx.writer.mergePatch(kube.Pools, { name }, { spec: { paused: false } })
    unpaused = unpausedPools
    await changed.wait()
  }
}

/** New machines are of the release that the platform has now. */
async function addPool(cx: Platform, pool: PoolShape): Promise<void> {
  const { reader, writer, shape } = cx
  if ((await reader.get(kube.Pools, pool)).is !== 'absent') return
  const { version } = (await machineRelease(cx)) ?? shape
  for (const node of nodesOfPool({ ...shape, version }, pool)) {
    if ((await reader.get(kube.Nodes, node.metadata)).is !== 'absent') continue
    const { status = {} } = node
    await writer.create(kube.Nodes, node)
    await writer.mergePatch(kube.Nodes, node.metadata, { status }, 'status')
  }
  await writer.create(kube.Pools, machineConfigPool(pool))
}
