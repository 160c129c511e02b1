import type { Reader } from '../kube/cluster.ts'
import { beingDeleted, type Installation, theInstallation } from '../kubevirt/installation.ts'
import { launcherImage, leaseWatchOf, type SilentLease } from '../kubevirt/lease-holders.ts'
import { kubeVirtDefinitions } from '../kubevirt/stored-versions.ts'
import { causeParts, type Snapshot, statusParts, takeSnapshot, withParts } from '../kubevirt/snapshot.ts'
import {
  assessHealthy,
  assessRollout,
  explainedStatus,
  type RolloutStatus,
} from '../kubevirt/rollout-status.ts'
import type { Override } from '../engine/journal.ts'
import { compareVersions, type Version, versionOf } from '../releases/release-versions.ts'
import type { Clock } from '../kube/clock.ts'
import { forecastUpdates } from '../vms/forecast/vm-forecast.ts'
import { blocked, forbidden } from '../kube/errors.ts'
import { isGuards } from '../vms/update-guard.ts'
import { keptMethods, openOverride, type Owner } from '../vms/update-methods.ts'
import type { UpgradeState } from './upgrade-plan.ts'
import { DaemonSets, Deployments, Jobs, Pods, ReplicaSets } from '../kube/kinds/workload-kinds.ts'
import { Events, Leases, Nodes } from '../kube/kinds/core-kinds.ts'
import { type Cause, LastLines } from '../kubevirt/diagnosis/pod-trouble.ts'
import { takeAnswers, withHealth } from '../kubevirt/diagnosis/health.ts'
import { itemsOf } from '../kube/known.ts'
import { podsOutsideVms } from '../kubevirt/installed-components.ts'
import type { ReadContext, Watched } from '../engine/step.ts'
import { roleRemedy } from '../output/kvup-words.ts'

interface Asked {
  /** Reads the journal of KubeVirt's namespace. */
  overridesIn?: (namespace: string) => Promise<readonly Override[]>
  /** Where KubeVirt is to go. */
  to?: Version
}

/**
 * Everything that a plan is made from. Throws `blocked` for no or several KubeVirts and one that is being deleted, `forbidden` where they may not be read.
 */
export async function seeForUpgrade(
  reader: Reader,
  clock: Clock,
  { overridesIn, to }: Asked = {},
): Promise<UpgradeState> {
  const snapshot = await takeSnapshot(reader, [...statusParts, ...causeParts], clock)
  const installation = theInstallation(snapshot)
  ensureStays(installation)
  ensureOperatorsRead(snapshot)
  const overrides = (await overridesIn?.(installation.namespace)) ?? []
  const { override, methods } = methodsOnceResumed(installation, overrides)
  const { kubevirt } = installation
  const nodes = snapshot.nodes.known ? snapshot.nodes.items : undefined
  const judged = assessRollout(snapshot, clock.now())
  const [forecast, crds] = await Promise.all([
    forecastUpdates(reader, {
      kubevirt,
      methods,
      launcher: launcherImage(snapshot),
      nodes,
      installs: to?.text,
    }),
    definitionsFor(to, judged, reader),
  ])
  return {
    installation,
    methods,
    ...(override && isGuards(override) && { pausedForHarm: override }),
    rolloutStatus: judged,
    forecast,
    ...(override?.goesBack !== undefined && { wentBackTo: override.goesBack }),
    ...(crds && { crds }),
  }
}

/** Of a KubeVirt that stands still and is to go forward nothing depends on its CRDs, which are megabytes. */
async function definitionsFor(
  to: Version | undefined,
  { verdict, observed }: RolloutStatus,
  reader: Reader,
): Promise<UpgradeState['crds']> {
  if (to === undefined) return undefined
  const now = versionOf(observed.version)
  const isForward = verdict === 'Healthy' && now !== undefined && compareVersions(to, now) >= 0
  return isForward ? undefined : kubeVirtDefinitions(reader)
}

/** The methods are borrowed of the KubeVirt, or of the HyperConverged that owns it. */
/** The update methods that are in force once nothing is paused, and the temporary change that pauses them, on KubeVirt or on the HyperConverged that owns it. */
export function methodsOnceResumed(
  installation: Installation,
  overrides: readonly Override[],
): { override: Override | undefined; methods: readonly string[] } {
  const override = uidsOf(installation)
    .map((uid) => openOverride(overrides, uid))
    .find(Boolean)
  return { override, methods: override ? keptMethods(override) : installation.workloadUpdateMethods }
}

function uidsOf({ uid, kubevirt }: Installation): readonly string[] {
  const owners = kubevirt.metadata.ownerReferences ?? []
  return [uid, ...owners.filter(({ kind }) => kind === 'HyperConverged').map((owner) => owner.uid)]
}

/** Nothing is borrowed for a KubeVirt that somebody takes away. */
function ensureStays({ namespace, kubevirt }: Installation): void {
  const going = beingDeleted('kubevirts', kubevirt)
  if (going === undefined) return
  const object = `kubevirts/${kubevirt.metadata.name} in namespace ${namespace}`
  throw blocked('kubevirt-deleting', going, { object, remedy: 'kvup status' })
}

/** Without them it would look as if there were no virt-operator. */
function ensureOperatorsRead({ operators }: Snapshot): void {
  if (operators.known) return
  throw forbidden(
    'deployments-not-readable',
    `kvup cannot see which virt-operator is installed: ${operators.why}. Nothing was changed`,
    { remedy: roleRemedy('kvup-upgrade') },
  )
}

export interface ClusterRead {
  snapshot: Snapshot
  rolloutStatus: RolloutStatus
  /** What was measured to be broken although KubeVirt itself says that all is well; empty while anything else is missing. */
  faults: readonly Cause[]
}

/**
 * One judged look at the installation; answered from what is followed while a step is waited for. Some causes (a NotReady
 * node, pods that a quota refuses) show only in nodes and events, so these are read whenever it is not Healthy. `mayEnd`: with that status the run would
 * be over, so that a suspect Lease is watched first.
 */
export async function readRollout(
  { reader, clock }: ReadContext,
  owner: Owner,
  mayEnd: (rolloutStatus: RolloutStatus) => boolean = () => true,
): Promise<ClusterRead> {
  const { ref } = owner
  const quick = await takeSnapshot(reader, statusParts, clock, ref.namespace)
  const healthy = assessHealthy(quick, clock.now())
  const isEnd = healthy !== undefined && mayEnd(healthy)
  const leases = await silentIn(quick, { reader, clock, owner, isEnd })
  if (healthy) {
    const answers = await takeAnswers(reader, ref.namespace)
    const judged = withHealth(healthy, { leases, answers }, clock.now())
    return { snapshot: quick, rolloutStatus: judged, faults: judged.why }
  }
  const snapshot = await withParts(reader, quick, causeParts)
  const judged = await explainedStatus(snapshot, { reader, clock }, keptOf(owner).logs)
  return { snapshot, rolloutStatus: withHealth(judged, { leases }, clock.now()), faults: [] }
}

interface SnapshotOptions extends Pick<ReadContext, 'reader' | 'clock'> {
  owner: Owner
  /** It is settled, and whoever looks would end here. */
  isEnd: boolean
}

/**
 * The first look at a KubeVirt that seems settled may be the last: it waits until it knows. Later ones go by what those before saw.
 */
async function silentIn(
  { leases }: Snapshot,
  { reader, clock, owner, isEnd }: SnapshotOptions,
): Promise<readonly SilentLease[]> {
  const { namespace } = owner.ref
  const [watch, observed] = [leaseWatchOf(clock), keptOf(owner)]
  const first = !observed.snapshot
  observed.snapshot = true
  if (isEnd && first) return watch.settle(itemsOf(leases), { namespace, reader, clock })
  return watch.confirmed(itemsOf(leases), { reader, namespace, clock })
}

interface Kept {
  logs: LastLines
  snapshot: boolean
}

/** The steps of a run look at one owner: what a log said is known to all of them. */
const kept = new WeakMap<Owner, Kept>()

/** What the logs said that the steps of the run read. */
export const lastLinesOf = (owner: Owner): LastLines => keptOf(owner).logs

function keptOf(owner: Owner): Kept {
  const found = kept.get(owner) ?? { logs: new LastLines(), snapshot: false }
  kept.set(owner, found)
  return found
}

/** What `look` reads: a change in any of it wakes the runner. */
export function snapshotWatches({ kind, ref: { namespace } }: Owner): readonly Watched[] {
  return [
    { kind, where: {} },
    { kind: Deployments, where: { namespace } },
    { kind: DaemonSets, where: { namespace } },
    { kind: Pods, where: { namespace, labels: podsOutsideVms } },
    { kind: ReplicaSets, where: { namespace } },
    { kind: Jobs, where: { namespace, labels: 'kubevirt.io/install-strategy' } },
    { kind: Leases, where: { namespace } },
    { kind: Nodes, where: {} },
    { kind: Events, where: { namespace, fields: 'type=Warning' } },
  ]
}
