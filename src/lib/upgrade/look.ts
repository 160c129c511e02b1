import { DaemonSets, Deployments, Jobs, ReplicaSets } from '../cluster/kinds/apps.ts'
import { Events, Leases, Nodes } from '../cluster/kinds/core.ts'
import { Pods } from '../cluster/kinds/pods.ts'
import { explainedStanding } from '../facts/explained-standing.ts'
import { LastLines } from '../facts/last-lines.ts'
import { causeParts, type Snapshot, standingParts, takeSnapshot, withParts } from '../facts/snapshot.ts'
import { podsBesideVms } from '../facts/stamps.ts'
import { type Standing, standing } from '../facts/standing.ts'
import type { Followed, ReadContext } from '../procedure/step.ts'
import type { Owner } from '../workloads/update-methods.ts'

export interface Look {
  snapshot: Snapshot
  standing: Standing
}

/**
 * One judged look at the installation; answered from what is followed while a step is waited for. Some causes (a NotReady
 * node, pods that a quota refuses) show only in nodes and events, so these are read whenever it is not Settled.
 */
export async function look({ reader, clock }: ReadContext, owner: Owner): Promise<Look> {
  const { ref } = owner
  const quick = await takeSnapshot(reader, standingParts, clock, ref.namespace)
  const first = standing(quick, clock.now())
  if (first.verdict === 'Settled') return { snapshot: quick, standing: first }
  const snapshot = await withParts(reader, quick, causeParts)
  return { snapshot, standing: await explainedStanding(snapshot, { reader, clock }, logsOf(owner)) }
}

/** The steps of a run look at one owner: what a log said is known to all of them. */
const read = new WeakMap<Owner, LastLines>()

function logsOf(owner: Owner): LastLines {
  const logs = read.get(owner) ?? new LastLines()
  read.set(owner, logs)
  return logs
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
