import type { PlanDocument } from '../upgrade/plan/plan-document.ts'
import type { FleetMember } from './fleet-file.ts'

/** A cluster of a fleet plan, with its own sealed plan. */
export interface PlannedCluster {
  name: string
  context: string
  /** Absent: that of the command line. */
  kubeconfig?: string
  /** Of its namespace kube-system; its saved plan is called by it. Empty where it could not be asked. */
  uid: string
  /** 0 is the canary. Absent where it could not be asked. */
  group?: number
  /** Absent where nothing could be planned: `error` says why. */
  plan?: PlanDocument
  error?: { code: number; reason: string; message: string; remedy?: readonly string[] }
  /** What carries its saved plan out. Absent where it was not saved. */
  next?: string
}

/** The plan of each cluster, in the order in which they are to be upgraded: group after group. */
export interface FleetPlanDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'FleetPlan'
  to: string
  clusters: readonly PlannedCluster[]
  next?: readonly string[]
}

/** Canary clusters first, then those that say their group, then the rest, so many at a time. Pure. */
export function groupsOf<T extends Pick<FleetMember, 'group'>>(
  members: readonly T[],
  size: number,
): readonly { group: number; members: readonly T[] }[] {
  const said = [...new Set(members.flatMap(({ group }) => group ?? []))].toSorted((one, other) => one - other)
  const groups = said.map((number) => members.filter(({ group }) => group === number))
  const rest = members.filter(({ group }) => group === undefined)
  for (let at = 0; at < rest.length; at += size) groups.push(rest.slice(at, at + size))
  const first = said[0] === 0 ? 0 : 1
  return groups.map((group, index) => ({ group: index + first, members: group }))
}
