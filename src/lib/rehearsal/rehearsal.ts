import type { ClusterAddress } from '../kube/cluster.ts'
import type { ReportedFinding } from '../checks/check-run.ts'
import type { ExitCode } from '../kube/errors.ts'
import type { Method } from '../releases/hop-findings.ts'
import type { ObservedPace } from './cluster-twin.ts'

/** What an upgrade does on the twin of a cluster. */
export interface Rehearsal extends Played {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'Rehearsal'
  /** That the twin is of. Absent of a saved cluster. */
  cluster?: ClusterAddress
  /** When the cluster was read, or saved; RFC 3339. */
  asOf: string
  /** The uid of its namespace kube-system; absent where that could not be read. */
  clusterUid?: string
  /** Whose releases `from` and `to` are. */
  product: 'KubeVirt'
  from: string
  to: string
  /** The same seed and the same cluster make the same rehearsal. */
  seed: number
  twin: { nodes: number; running: number; vms: number }
  /** What the twin's pace was taken from; absent where the cluster's pods tell nothing. */
  pace?: ObservedPace
  /** What kvup finds in the cluster itself: a rehearsal takes none of it away. */
  findings: readonly ReportedFinding[]
  /** What of the cluster is not in the twin, a sentence for each. */
  missing: readonly string[]
  next: readonly string[]
}

/**
 * `through`: the upgrade reaches its end. `degraded`: it does too, and what runs then is not as it should be. `stalls`: nothing moves any more. `timed-out`: its time is over while it still moves.
 * `stops`: it is refused in the middle. `blocked`: it is not begun.
 */
export type RehearsalOutcome = 'through' | 'degraded' | 'stalls' | 'timed-out' | 'stops' | 'blocked'

/** How one rehearsal went. Times are seconds of the twin's own clock, from the first step of the upgrade. */
export interface Played {
  outcome: RehearsalOutcome
  /** The exit code with which the upgrade itself ends on the twin. */
  code: ExitCode
  method: Method
  /** Until the upgrade ends; absent where it is not begun. */
  upgradeSeconds?: number
  /** From there until the last VM is on the new virt-launcher that gets there by itself; absent where none does. */
  vmUpdateSeconds?: number
  /** With how many running VMs KubeVirt tries what by itself. */
  tries: Readonly<Record<RehearsedVm['tries'], number>>
  stages: readonly RehearsedStage[]
  /** Running VMs and what KubeVirt tries with them, by name. */
  vms: readonly RehearsedVm[]
  /** Why it stalls or is blocked, or what is wrong at its end, as the upgrade says it. */
  why?: RehearsedFailure
  /** Temporary changes that it leaves open, and what restores them. */
  left: readonly { what: string; restores: string }[]
}

/** A stage of the upgrade as the live view counts them. */
export interface RehearsedStage {
  /** In an upgrade path with its minor: `v1.7.4: Verify`. */
  name: string
  /** The minor of an upgrade path that it belongs to. */
  hop?: string
  begins: number
  takes?: number
}

/** What KubeVirt can try with a VM; `evict-refused`: an eviction that a PodDisruptionBudget or a webhook refuses, each time. */
export type Attempted = 'migrate' | 'evict' | 'evict-refused'

export interface RehearsedVm {
  namespace: string
  name: string
  /** Of its VMI in the cluster, and the image that this runs when the rehearsal begins: what becomes of it is told by them. */
  uid?: string
  launcher?: string
  tries: Attempted | 'nothing'
  /**
   * What becomes of it in the twin, where every migration succeeds that KubeVirt itself does not end: `updated` (it runs on the new virt-launcher), `outdated`
   * (still on its own, also where the upgrade does not reach its end), `stopped`. Not a promise for the cluster.
   */
  becomes: 'updated' | 'outdated' | 'stopped'
  attempts: number
  /** From the first step of the upgrade to the first and after the last attempt; absent where nothing is tried. */
  begins?: number
  ends?: number
}

export interface RehearsedFailure {
  reason: string
  message: string
  notes: readonly string[]
  /** What else `kvup status` finds on the twin at the end, in sentences; absent: nothing. */
  finds?: readonly string[]
  /** Commands that help, as the upgrade prints them, but for those that name a pod of the twin. */
  remedy: readonly string[]
}
