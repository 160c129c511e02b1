import * as kube from '../kinds.ts'
import { ChangeSignal, claim, type ControllerContext, untilAborted } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { runClusterOperators, runKubeletSkew, versionsOf } from './cluster-operators.ts'
import { runClusterVersion } from './cluster-version.ts'
import {
  minute,
  type OpenShiftFaults,
  type Platform,
  withConditions,
  writeStatus,
} from './platform-context.ts'
import { runMachineConfigStatus, runNodeUpdates, runPools, runRender } from './machine-config-controller.ts'
import { type OpenShiftShape, type PoolShape, releaseOf } from './openshift-shape.ts'
import type { Condition } from '../../lib/kube/object.ts'
import { platformRelease } from './cluster-updates.ts'
import {
  infrastructureStatus,
  machineConfigPool,
  machineRelease,
  nodesOfPool,
  runHealthChecks,
} from './openshift-objects.ts'
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
  await installPlatform(platform)
  const machines =
    shape.topology === 'External' ? [] : [runRender, runPools, runNodeUpdates, runMachineConfigStatus]
  const all = [
    runClusterVersion,
    runClusterOperators,
    runKubeletSkew,
    runHealthChecks,
    runInterference,
    ...machines,
  ]
  await Promise.all(all.map((run) => run(platform)))
}

/** Long ago, so that nothing of it looks like news. */
const age = { installed: 90 * 24 * 60 * minute, updated: 30 * 24 * 60 * minute }

async function installPlatform(cx: Platform): Promise<void> {
  await untilAborted(cx.signal, async () => {
    const since = stamp(cx.clock.now(), age.updated)
    for (const operator of await cx.reader.list(kube.ClusterOperators))
      if (!operator.status)
        await writeStatus(cx, kube.ClusterOperators, operator, installed(cx.shape, operator, since))
    for (const infrastructure of await cx.reader.list(kube.Infrastructures))
      if (!infrastructure.status)
        await writeStatus(cx, kube.Infrastructures, infrastructure, infrastructureStatus(cx.shape))
    for (const version of await cx.reader.list(kube.ClusterVersions))
      if (!version.status) await writeStatus(cx, kube.ClusterVersions, version, versionStatus(cx, version))
  })
}

const stamp = (now: Date, ago: number): string => timestamp(new Date(now.getTime() - ago))

const well: readonly Condition[] = [
  claim('Available', 'True', 'AsExpected', 'All is well'),
  claim('Progressing', 'False', 'AsExpected', ''),
  claim('Degraded', 'False', 'AsExpected', ''),
  claim('Upgradeable', 'True', 'AsExpected', ''),
]

function installed({ graph, version }: OpenShiftShape, { metadata }: kube.ClusterOperator, since: string) {
  const { kubernetes } = releaseOf(graph, version) ?? { kubernetes: '' }
  const versions = versionsOf(metadata.name, { version, kubernetes })
  return { versions, conditions: withConditions([], well, since) }
}

function versionStatus(cx: Platform, { metadata }: kube.ClusterVersion): kube.ClusterVersion['status'] {
  const { shape, clock } = cx
  const release = releaseOf(shape.graph, shape.version)
  return {
    desired: release ? platformRelease(release) : { version: shape.version },
    history: pastUpdates(shape, clock.now()),
    observedGeneration: metadata.generation ?? 1,
    versionHash: 'a1B2c3D4e5F=',
    availableUpdates: null,
    conditions: settled(shape.version, stamp(clock.now(), age.updated)),
  }
}

function settled(version: string, since: string): Condition[] {
  const claims: readonly Condition[] = [
    claim('Available', 'True', undefined, `Done applying ${version}`),
    claim('Failing', 'False'),
    claim('Progressing', 'False', undefined, `Cluster version is ${version}`),
    claim('ReleaseAccepted', 'True', 'PayloadLoaded', 'Payload loaded'),
    claim('ImplicitlyEnabledCapabilities', 'False', 'AsExpected'),
  ]
  return withConditions([], claims, since)
}

/** Installed as an older release of the graph where there is one, and updated since. */
function pastUpdates({ graph, version }: OpenShiftShape, now: Date): kube.UpdateHistory[] {
  const before = graph.find(({ to }) => to.includes(version))
  const steps = before ? [before.version, version] : [version]
  const past = steps.map((of, index): kube.UpdateHistory => {
    const isInstall = index === 0
    const completed = isInstall ? age.installed : age.updated
    return {
      state: 'Completed',
      version: of,
      image: releaseOf(graph, of)?.image ?? '',
      startedTime: stamp(now, completed + (isInstall ? 41 : 63) * minute),
      completionTime: stamp(now, completed),
      verified: !isInstall,
    }
  })
  return past.toReversed()
}

/** What other people do while an update is under way, when the fault is switched on: once each. */
async function runInterference(cx: Platform): Promise<void> {
  const changed = new ChangeSignal(cx.clock, cx.signal)
  const unpaused = new Set<string>()
  cx.faults.onChange(() => changed.notify(), cx.signal)
  while (!cx.signal.aborted) {
    const { addedPool, unpausedPools = [] } = cx.faults.on
    if (addedPool) await addPool(cx, addedPool)
    for (const name of unpausedPools.filter((one) => !unpaused.has(one))) {
      unpaused.add(name)
      await cx.writer.mergePatch(kube.Pools, { name }, { spec: { paused: false } })
    }
    for (const name of unpaused) if (!unpausedPools.includes(name)) unpaused.delete(name)
    await changed.wait()
  }
}

/** New machines are of the release that the platform has now. */
async function addPool(cx: Platform, pool: PoolShape): Promise<void> {
  const { reader, writer, shape } = cx
  if ((await reader.get(kube.Pools, pool)).is !== 'absent') return
  const version = (await machineRelease(cx))?.version ?? shape.version
  for (const node of nodesOfPool({ ...shape, version }, pool)) {
    if ((await reader.get(kube.Nodes, node.metadata)).is !== 'absent') continue
    const { status = {} } = node
    await writer.create(kube.Nodes, node)
    await writer.mergePatch(kube.Nodes, node.metadata, { status }, 'status')
  }
  await writer.create(kube.Pools, machineConfigPool(pool))
}
