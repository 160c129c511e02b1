import { DaemonSets, Deployments, Jobs, ReplicaSets } from '../cluster/kinds/apps.ts'
import { Events, Leases, Nodes } from '../cluster/kinds/core.ts'
import { Pods } from '../cluster/kinds/pods.ts'
import type { Cause } from '../facts/cause.ts'
import { explainedStanding } from '../facts/explained-standing.ts'
import { takeAnswers } from '../facts/health/answers.ts'
import { withHealth } from '../facts/health/health.ts'
import { leaseWatchOf, type SilentLease } from '../facts/health/lease-watch.ts'
import { itemsOf } from '../facts/known.ts'
import { LastLines } from '../facts/last-lines.ts'
import { causeParts, type Snapshot, standingParts, takeSnapshot, withParts } from '../facts/snapshot.ts'
import { podsBesideVms } from '../facts/stamps.ts'
import { type Standing, standing } from '../facts/standing.ts'
import type { Followed, ReadContext } from '../procedure/step.ts'
import type { Owner } from '../workloads/update-methods.ts'

export interface Look {
  snapshot: Snapshot
  standing: Standing
  /** What was measured to be broken although KubeVirt itself says that all is well; empty while anything else is missing. */
  faults: readonly Cause[]
}

/**
 * One judged look at the installation; answered from what is followed while a step is waited for. Some causes (a NotReady
 * node, pods that a quota refuses) show only in nodes and events, so these are read whenever it is not Settled. `mayEnd`: with that standing the run would
 * be over, so that a suspect Lease is watched first.
 */
export async function look(
  { reader, clock }: ReadContext,
  owner: Owner,
  mayEnd: (standing: Standing) => boolean = () => true,
): Promise<Look> {
  const { ref } = owner
  const quick = await takeSnapshot(reader, standingParts, clock, ref.namespace)
  const first = standing(quick, clock.now())
  const leases = await silentIn(quick, {
    reader,
    clock,
    owner,
    isEnd: first.verdict === 'Settled' && mayEnd(first),
  })
  if (first.verdict === 'Settled') {
    const answers = await takeAnswers(reader, ref.namespace)
    const judged = withHealth(first, { leases, answers }, clock.now())
    return { snapshot: quick, standing: judged, faults: judged.why }
  }
  const snapshot = await withParts(reader, quick, causeParts)
  const judged = await explainedStanding(snapshot, { reader, clock }, keptOf(owner).logs)
  return { snapshot, standing: withHealth(judged, { leases }, clock.now()), faults: [] }
}

interface LookingAt extends Pick<ReadContext, 'reader' | 'clock'> {
  owner: Owner
  /** It is settled, and whoever looks would end here. */
  isEnd: boolean
}

/**
 * The first look at a KubeVirt that seems settled may be the last: it waits until it knows. Later ones go by what those before saw.
 */
async function silentIn(
  { leases }: Snapshot,
  { reader, clock, owner, isEnd }: LookingAt,
): Promise<readonly SilentLease[]> {
  const { namespace } = owner.ref
  const [watch, seen] = [leaseWatchOf(clock), keptOf(owner)]
  const first = !seen.looked
  seen.looked = true
  if (isEnd && first) return watch.settle(itemsOf(leases), { namespace, reader, clock })
  return watch.confirmed(itemsOf(leases), { reader, namespace, clock })
}

interface Kept {
  logs: LastLines
  looked: boolean
}

/** The steps of a run look at one owner: what a log said is known to all of them. */
const kept = new WeakMap<Owner, Kept>()

function keptOf(owner: Owner): Kept {
  const found = kept.get(owner) ?? { logs: new LastLines(), looked: false }
  kept.set(owner, found)
  return found
}

/** What `look` reads: a change in any of it wakes the runner. */
export function lookFollows({ kind, ref: { namespace } }: Owner): readonly Followed[] {
  return [
    { kind, where: {} },
    { kind: Deployments, where: { namespace } },
    { kind: DaemonSets, where: { namespace } },
    { kind: Pods, where: { namespace, labels: podsBesideVms } },
    { kind: ReplicaSets, where: { namespace } },
    { kind: Jobs, where: { namespace, labels: 'kubevirt.io/install-strategy' } },
    { kind: Leases, where: { namespace } },
    { kind: Nodes, where: {} },
    { kind: Events, where: { namespace, fields: 'type=Warning' } },
  ]
}
