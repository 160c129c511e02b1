import {
  type ClusterOperator,
  ClusterOperators,
  type ClusterVersion,
  ClusterVersions,
  Infrastructures,
  type UpdateHistory,
} from '../../cluster/kinds/openshift.ts'
import type { Condition } from '../../cluster/object.ts'
import { untilAborted } from '../machinery/controller.ts'
import { versionsOf } from './cluster-version/operator-versions.ts'
import { platformRelease } from './cluster-version/update-graph.ts'
import { type Claim, withConditions } from './conditions.ts'
import { infrastructureStatus } from './objects.ts'
import { minute, type PlatformContext, writeStatus } from './platform-context.ts'
import { releaseOf } from './release-number.ts'
import type { OpenShiftShape } from './shape.ts'

/** Long ago, so that nothing of it looks like news. */
const age = { installed: 90 * 24 * 60 * minute, updated: 30 * 24 * 60 * minute }

/** Writes what the operators of a cluster that has run for a month say of it, where nobody has said anything yet. */
export async function installPlatform(cx: PlatformContext): Promise<void> {
  await untilAborted(cx.signal, async () => {
    const since = stamp(cx.clock.now(), age.updated)
    for (const operator of await cx.reader.list(ClusterOperators))
      if (!operator.status)
        await writeStatus(cx, ClusterOperators, operator, installed(cx.shape, operator, since))
    for (const infrastructure of await cx.reader.list(Infrastructures))
      if (!infrastructure.status)
        await writeStatus(cx, Infrastructures, infrastructure, infrastructureStatus(cx.shape))
    for (const version of await cx.reader.list(ClusterVersions))
      if (!version.status) await writeStatus(cx, ClusterVersions, version, versionStatus(cx, version))
  })
}

const stamp = (now: Date, ago: number): string =>
  new Date(now.getTime() - ago).toISOString().replace(/\.\d+Z$/, 'Z')

const well: readonly Claim[] = [
  { type: 'Available', status: 'True', reason: 'AsExpected', message: 'All is well' },
  { type: 'Progressing', status: 'False', reason: 'AsExpected', message: '' },
  { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' },
  { type: 'Upgradeable', status: 'True', reason: 'AsExpected', message: '' },
]

function installed(
  { graph, version }: OpenShiftShape,
  { metadata }: ClusterOperator,
  since: string,
): ClusterOperator['status'] {
  const { kubernetes } = releaseOf(graph, version) ?? { kubernetes: '' }
  const versions = versionsOf(metadata.name, { version, kubernetes })
  return { versions, conditions: withConditions([], well, since) }
}

function versionStatus(cx: PlatformContext, { metadata }: ClusterVersion): ClusterVersion['status'] {
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
  const claims: readonly Claim[] = [
    { type: 'Available', status: 'True', message: `Done applying ${version}` },
    { type: 'Failing', status: 'False' },
    { type: 'Progressing', status: 'False', message: `Cluster version is ${version}` },
    { type: 'ReleaseAccepted', status: 'True', reason: 'PayloadLoaded', message: 'Payload loaded' },
    { type: 'ImplicitlyEnabledCapabilities', status: 'False', reason: 'AsExpected' },
  ]
  return withConditions([], claims, since)
}

/** Installed as an older release of the graph where there is one, and updated since. */
function pastUpdates({ graph, version }: OpenShiftShape, now: Date): UpdateHistory[] {
  const before = graph.find(({ to }) => to.includes(version))
  const steps = before ? [before.version, version] : [version]
  const past = steps.map((of, index): UpdateHistory => {
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
