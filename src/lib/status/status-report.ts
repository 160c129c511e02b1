import type { Reader, Where } from '../kube/cluster.ts'
import type { Clock } from '../kube/clock.ts'
import { assessRollout, explainedStatus, type RolloutStatus } from '../kubevirt/rollout-status.ts'
import { type Health, takeAnswers, withHealth } from '../kubevirt/diagnosis/health.ts'
import { type LeaseWatch, leaseWatchOf, lockHolder } from '../kubevirt/lease-holders.ts'
import { vmProblems, VmSnapshot, type VmTroubles } from '../kubevirt/diagnosis/vm-troubles.ts'
import { harmlessOf } from '../kubevirt/diagnosis/known-messages.ts'
import { LastLines } from '../kubevirt/diagnosis/pod-trouble.ts'
import {
  type AskAlerts,
  askPlatform,
  layerKinds,
  type Layers,
  readLayers,
  type VmsSnapshot,
} from '../openshift/layers.ts'
import {
  createCommand,
  type Found,
  getInstallation,
  hasOwnLayers,
  type Installation,
  type Manager,
  notOne,
  type Operator,
} from '../kubevirt/installation.ts'
import { filled, itemsOf, type Known, notAsked } from '../kube/known.ts'
import type { Node } from '../kube/kinds/core-kinds.ts'
import { counted } from '../kube/text.ts'
import { type HollowNodes, hollowNodes, offeredNodes } from '../kubevirt/hollow-nodes.ts'
import { unknownMethods } from '../openshift/operator-rules.ts'
import { causeParts, type Snapshot, statusParts, takeSnapshot, withParts } from '../kubevirt/snapshot.ts'
import type { Kind } from '../kube/object.ts'
import { DaemonSets, Deployments, Pods } from '../kube/kinds/workload-kinds.ts'
import { KubeVirts } from '../kube/kinds/kubevirt-kinds.ts'
import { ChangeSignal, notifyOnChange } from '../kube/change-signal.ts'
import { podsOutsideVms } from '../kubevirt/installed-components.ts'

/** Where an installation stands, as plain data. */
export interface StatusReport extends Partial<RolloutStatus>, Partial<Layers> {
  /** RFC 3339. */
  takenAt: string
  /** Absent when an operator runs without a KubeVirt (night U7). */
  installation?: InstallationReport
  /** It is Healthy as far as it was judged: `remarks` say what could not be seen. */
  partly?: true
  /** The Deployment of an operator that has no KubeVirt to look after. */
  idleOperator?: Operator
  /** Commands that get it going. */
  next?: readonly string[]
  workloads: WorkloadsReport
  /** Who holds kvup's lock. */
  running?: { holder: string; since?: string }
  /** What this release of KubeVirt logs by design, in sentences; absent where nothing is known. */
  harmlessMessages?: readonly string[]
}

interface InstallationReport {
  name: string
  namespace: string
  apiVersion: string
  manager: Manager
  imageTag?: string
  imageRegistry?: string
  /** Component images that the operator's environment fixes. */
  pinnedImages: Operator['pinned']
  workloadUpdateMethods: readonly string[]
}

interface WorkloadsReport {
  instances?: number
  /** Words among workloadUpdateMethods that KubeVirt does not know; absent where it knows all, and where HyperConverged has them, whose layer tells it. */
  unknownMethods?: readonly string[]
  /** Absent where VMs may not be read. */
  troubled?: VmTroubles
  /** Nodes that are offered to VMs and cannot take any; absent where there is none, and where nodes were not read, as where nothing is wrong. */
  hollowNodes?: HollowNodes
  /** What is wrong with VMs, their migrations and their nodes in a few words each; absent where nothing is, and where VMs may not be read. */
  problems?: readonly string[]
  outdated: {
    /** status.outdatedVirtualMachineInstanceWorkloads; counts pending hotplug too (facts 3.2). */
    reported?: number
    /** Instances with the outdated label. */
    labelled?: number
  }
}

export interface StatusAsks {
  /** What earlier looks read. */
  logs?: LastLines
  /** What earlier looks saw of the Leases; absent: nothing can be watched, as in a saved cluster. */
  leases?: LeaseWatch
  /** Absent: VMs are looked at now. */
  vms?: VmSnapshot
  /** Ends the wait for a Lease that may not be renewed any more. */
  signal?: AbortSignal
  /** Told before such a wait. */
  told?: (line: string) => void
  /** Whether `kvup eus` has overrides open; the namespace is KubeVirt's, where it is known. */
  overridesAreOpen?: (namespace: string) => Promise<boolean>
  /** How a live platform is asked which alerts fire; absent: it is not. */
  alerts?: AskAlerts
}

/**
 * One look and its judgement; causes are read only where something is not as it should be, and layers only where KubeVirt has any above
 * it. Throws `blocked` (no KubeVirt, no operator and no layers, or several), `forbidden`, and what the Reader throws.
 */
export async function statusReport(
  reader: Reader,
  clock: Clock,
  asks: StatusAsks = {},
): Promise<StatusReport> {
  const platform = askPlatform(reader)
  const quick = await takeSnapshot(reader, [...statusParts, 'workloads'], clock)
  const found = getInstallation(quick)
  const onPlatform = await platform
  if (found.is !== 'one') return withoutKubeVirt(reader, quick, { found, onPlatform, alerts: asks.alerts })
  const asked = healthOf(reader, quick, found, { clock, asks })
  // Awaited last; an early failure of it must not go unhandled until then.
  asked.catch(() => undefined)
  const first = assessRollout(quick, clock.now())
  const settled = first.verdict === 'Healthy'
  const snapshot = settled ? quick : await withParts(reader, quick, causeParts)
  const observed = settled
    ? first
    : await explainedStatus(snapshot, { reader, clock }, asks.logs ?? new LastLines())
  const health = await asked
  const judged = withHealth(observed, health, clock.now())
  // Where nothing is wrong with KubeVirt and its VMs, no node is read.
  const nodes = settled ? await nodesFor(reader, health.vms) : snapshot.nodes
  const hollow = hollowNodes({
    nodes: itemsOf(nodes),
    pods: itemsOf(quick.pods),
    installation: found,
    at: clock.now(),
  })
  const report = reportOf(snapshot, found, { judged, vms: health.vms, hollow })
  const layers = await readLayers(reader, {
    at: clock.now(),
    kubevirt: { is: 'one', name: found.name, rolloutStatus: judged },
    vms: countedVms(report, found),
    onPlatform,
    managed: hasOwnLayers(found.manager),
    alerts: asks.alerts,
    overridesAreOpen:
      asks.overridesAreOpen && (async () => asks.overridesAreOpen?.(found.namespace) ?? false),
  })
  return { ...report, ...layers }
}

/** A saved cluster need not hold what lies beyond KubeVirt: that is no news. */
async function healthOf(
  reader: Reader,
  snapshot: Snapshot,
  { namespace, kubevirt }: Installation,
  {
    clock,
    asks: { leases, signal, told, vms: vmSnapshot = new VmSnapshot() },
  }: { clock: Clock; asks: StatusAsks },
): Promise<Health> {
  const reading = vmSnapshot.now(reader, clock, kubevirt.status?.observedKubeVirtVersion)
  // Awaited last; an early failure of it must not go unhandled until then.
  reading.catch(() => undefined)
  const rest =
    leases === undefined
      ? { leases: [], answers: await takeAnswers(reader, namespace), saved: true as const }
      : await Promise.all([
          takeAnswers(reader, namespace),
          leases.settle(itemsOf(snapshot.leases), { namespace, reader, clock, signal, told }),
        ]).then(([answers, silent]) => ({ answers, leases: silent }))
  const [vmsSnapshot] = itemsOf(await reading)
  return { ...rest, ...(vmsSnapshot && { vms: vmsSnapshot.troubles }) }
}

/** A node without /dev/kvm may be what keeps VMs from starting, and migrations from their end. */
const nodesFor = async (reader: Reader, vms: VmTroubles | undefined): Promise<Known<Node>> =>
  vmProblems(vms).length > 0 ? offeredNodes(reader) : notAsked

/** The same from a snapshot that was taken already, at the time it was taken. */
function reportOf(
  snapshot: Snapshot,
  found: Installation,
  {
    judged,
    vms,
    hollow,
  }: { judged: RolloutStatus; vms: VmTroubles | undefined; hollow: HollowNodes | undefined },
): StatusReport {
  const running = runningKvup(snapshot, found.namespace)
  const problems = [
    ...vmProblems(vms),
    ...(vms?.stuckUnknown === undefined ? [] : ['migrations not checked']),
    ...(hollow ? [`${counted(hollow.names.length, 'node')} without /dev/kvm`] : []),
  ]
  const harmless = harmlessOf(judged.observed.version)
  return {
    takenAt: snapshot.takenAt,
    installation: installationReport(found),
    ...judged,
    ...(judged.verdict === 'Healthy' && judged.remarks.length > 0 && { partly: true }),
    workloads: {
      ...workloadsReport(snapshot),
      ...methodsReport(found),
      ...(vms && { troubled: vms }),
      ...(hollow && { hollowNodes: hollow }),
      ...(problems.length > 0 && { problems }),
    },
    ...(running ? { running } : {}),
    ...(harmless.length > 0 && { harmlessMessages: harmless }),
  }
}

/** The layers above may stand all the same, and are all that a saved platform without KubeVirt has. */
async function withoutKubeVirt(
  reader: Reader,
  snapshot: Snapshot,
  {
    found,
    onPlatform,
    alerts,
  }: { found: Exclude<Found, Installation>; onPlatform: boolean; alerts: AskAlerts | undefined },
): Promise<StatusReport> {
  if (found.is === 'several') throw notOne(found)
  const operator = found.is === 'none' ? found.operator : undefined
  const at = new Date(snapshot.takenAt)
  const layers = await readLayers(reader, { at, kubevirt: found, onPlatform, managed: false, alerts })
  if (!operator && !layers) throw notOne(found)
  return {
    takenAt: snapshot.takenAt,
    ...(operator && { idleOperator: operator, next: [createCommand(operator)] }),
    workloads: workloadsReport(snapshot),
    ...layers,
  }
}

function countedVms({ workloads }: StatusReport, found: Installation): VmsSnapshot | undefined {
  const { instances, outdated, problems } = workloads
  if (instances === undefined || outdated.labelled === undefined) return undefined
  const paused = found.workloadUpdateMethods.length === 0
  return { instances, outdated: outdated.labelled, paused, ...(problems && { problems }) }
}

function installationReport(found: Installation): InstallationReport {
  const { name, namespace, apiVersion, manager, imageTag, imageRegistry, workloadUpdateMethods } = found
  return {
    name,
    namespace,
    apiVersion,
    manager,
    ...(imageTag && { imageTag }),
    ...(imageRegistry && { imageRegistry }),
    pinnedImages: found.operator?.pinned ?? [],
    workloadUpdateMethods,
  }
}

function workloadsReport(snapshot: Snapshot): WorkloadsReport {
  const [count] = itemsOf(snapshot.workloads)
  const reported = itemsOf(snapshot.kubevirts)[0]?.status?.outdatedVirtualMachineInstanceWorkloads
  return {
    ...(count ? { instances: count.instances } : {}),
    outdated: {
      ...(reported === undefined ? {} : { reported }),
      ...(count ? { labelled: count.outdated } : {}),
    },
  }
}

function methodsReport({ manager, workloadUpdateMethods }: Installation): Partial<WorkloadsReport> {
  const unknown = manager.kind === 'hyperconverged' ? [] : unknownMethods(workloadUpdateMethods)
  return unknown.length === 0 ? {} : { unknownMethods: unknown }
}

/** Without when it renewed: that alone is no change of where things stand. */
function runningKvup(snapshot: Snapshot, namespace: string): StatusReport['running'] {
  const lease = itemsOf(snapshot.leases).find(
    ({ metadata }) => metadata.name === 'kvup' && metadata.namespace === namespace,
  )
  const found = lockHolder(lease, new Date(snapshot.takenAt))
  return found && { holder: found.holder, ...(found.since && { since: found.since }) }
}

interface Watching {
  reader: Reader
  clock: Clock
  signal: AbortSignal
  /** Told before a wait that is not for a change. */
  told?: (line: string) => void
  /** Told of a report that reads as the one before, when it was made. */
  unchanged?: (report: StatusReport) => Promise<void>
  /** See `statusReport`. */
  overridesAreOpen?: (namespace: string) => Promise<boolean>
  alerts?: AskAlerts
}

/** Changes come in bursts: one report for all that happens within this time, ms. */
const burst = 300
/** A look without any change: verdicts also change by time alone. */
const readEvery = 15_000

/** A report now and one whenever it would read differently; ends by throwing the signal's reason. */
export async function* statusChanges(watching: Watching): AsyncGenerator<StatusReport> {
  const { reader, clock, signal, told, overridesAreOpen, alerts } = watching
  const done = new AbortController()
  const changed = new ChangeSignal()
  const kept = { logs: new LastLines(), leases: leaseWatchOf(clock), vms: new VmSnapshot() }
  const asks = { ...kept, signal, ...filled({ told, overridesAreOpen, alerts }) }
  let before = ''
  try {
    for (;;) {
      const report = await statusReport(reader, clock, asks)
      const { takenAt: _, ...rest } = report
      const text = JSON.stringify(rest)
      if (text !== before) yield report
      else await watching.unchanged?.(report)
      if (before === '')
        notifyOnChange(reader, watchedFor(report), {
          changed,
          signal: AbortSignal.any([signal, done.signal]),
        })
      before = text
      await changed.wait(clock, readEvery, signal)
      await clock.sleep(burst, signal)
    }
  } finally {
    done.abort()
  }
}

function watchedFor(report: StatusReport): readonly (readonly [Kind, Where])[] {
  const namespace = report.installation?.namespace ?? report.idleOperator?.namespace
  const pods = { namespace, labels: podsOutsideVms }
  return [
    [KubeVirts, {}],
    [Deployments, { namespace }],
    [DaemonSets, { namespace }],
    [Pods, pods],
    ...(report.layers ? layerKinds(report.layers, namespace) : []),
  ]
}
