import type { Reader } from '../cluster/cluster.ts'
import type { Clock } from '../system/clock.ts'
import { explainedStanding } from './explained-standing.ts'
import { LastLines } from './last-lines.ts'
import { createCommand, type Found, type Installation, installation, notOne } from './installation.ts'
import { itemsOf } from './known.ts'
import { lockHolder } from './lock-holder.ts'
import type { Manager } from './ownership.ts'
import type { Operator } from './operator.ts'
import { causeParts, type Snapshot, standingParts, takeSnapshot, withParts } from './snapshot.ts'
import { type Standing, standing } from './standing.ts'

/** Where an installation stands, as plain data. */
export interface StatusReport extends Partial<Standing> {
  /** RFC 3339. */
  takenAt: string
  /** Absent when an operator runs without a KubeVirt (night U7). */
  installation?: InstallationReport
  /** The Deployment of an operator that has no KubeVirt to look after. */
  idleOperator?: Operator
  /** Commands that get it going. */
  next?: readonly string[]
  workloads: WorkloadsReport
  /** Who holds kvup's lock. */
  running?: { holder: string; since?: string }
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
  outdated: {
    /** status.outdatedVirtualMachineInstanceWorkloads; counts pending hotplug too (facts 3.2). */
    reported?: number
    /** Instances with the outdated label. */
    labelled?: number
  }
}

/**
 * One look and its judgement; causes are read only where something is not as it should be. Throws `blocked` (no KubeVirt
 * and no operator, or several), `forbidden`, and what the Reader throws. `logs` are what earlier looks read.
 */
export async function statusReport(
  reader: Reader,
  clock: Clock,
  logs: LastLines = new LastLines(),
): Promise<StatusReport> {
  const quick = await takeSnapshot(reader, [...standingParts, 'workloads'], clock.now())
  const found = installation(quick)
  if (found.is !== 'one') return withoutKubeVirt(quick, found)
  const first = standing(quick, clock.now())
  const settled = first.verdict === 'Settled'
  const snapshot = settled ? quick : await withParts(reader, quick, causeParts)
  const judged = settled ? first : await explainedStanding(snapshot, { reader, clock }, logs)
  return reportOf(snapshot, found, judged)
}

/** The same from a snapshot that was taken already, at the time it was taken. */
function reportOf(snapshot: Snapshot, found: Installation, judged: Standing): StatusReport {
  const running = runningKvup(snapshot, found.namespace)
  return {
    takenAt: snapshot.takenAt,
    installation: installationReport(found),
    ...judged,
    workloads: workloadsReport(snapshot),
    ...(running ? { running } : {}),
  }
}

function withoutKubeVirt(snapshot: Snapshot, found: Exclude<Found, Installation>): StatusReport {
  if (found.is !== 'none' || !found.operator) throw notOne(found)
  return {
    takenAt: snapshot.takenAt,
    idleOperator: found.operator,
    next: [createCommand(found.operator)],
    workloads: workloadsReport(snapshot),
  }
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

/** Without when it renewed: that alone is no change of where things stand. */
function runningKvup(snapshot: Snapshot, namespace: string): StatusReport['running'] {
  const lease = itemsOf(snapshot.leases).find(
    ({ metadata }) => metadata.name === 'kvup' && metadata.namespace === namespace,
  )
  const found = lockHolder(lease, new Date(snapshot.takenAt))
  return found && { holder: found.holder, ...(found.since && { since: found.since }) }
}
