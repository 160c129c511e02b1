import type { ClusterAddress } from '../kube/cluster.ts'
import type { ExitCode } from '../kube/errors.ts'
import type { ObservedPace } from './observed-pace.ts'

/** Of which cluster a rehearsal is, and of which upgrade. */
interface About {
  apiVersion: 'kvup.io/v1alpha1'
  /** That the twin is of. Absent of a saved cluster. */
  cluster?: ClusterAddress
  /** When the cluster was read, or saved; RFC 3339. */
  asOf: string
  /** Whose releases `from` and `to` are. `OpenShift` is the platform, OKD too, in an EUS upgrade. */
  product: 'KubeVirt' | 'HyperConverged' | 'OpenShift'
  from: string
  to: string
  /** The same seed and the same cluster make the same rehearsal. */
  seed: number
  twin: { nodes: number; running: number; vms: number }
  /** What the twin's pace was taken from; absent where the cluster's pods tell nothing. */
  pace?: ObservedPace
  /** What of the cluster is not in the twin, a sentence for each. */
  missing: readonly string[]
  next: readonly string[]
}

/** What an upgrade does on the twin of a cluster. */
export interface Rehearsal extends About, Played {
  kind: 'Rehearsal'
  /** What went wrong on purpose, all of it in one rehearsal. Absent: nothing. */
  faults?: readonly string[]
}

/** The same upgrade on a twin for each fault, and on one without any. */
export interface FaultRehearsals extends About {
  kind: 'FaultRehearsals'
  without: Pick<Played, 'outcome' | 'upgradeSeconds' | 'why'>
  items: readonly RehearsedFault[]
}

/** How the upgrade went with that fault. */
export interface RehearsedFault extends Omit<Played, 'vms' | 'stages'> {
  fault: string
  title: string
  /** What to type where this happens in the cluster. */
  next: readonly string[]
}

/** How one rehearsal went. Times are seconds of the twin's own clock, from the first step of the upgrade. */
export interface Played {
  /** `through`: the upgrade reaches its end. `stalls`: it does not come on. `blocked`: it is not begun. */
  outcome: 'through' | 'stalls' | 'blocked'
  /** The exit code with which the upgrade itself ends on the twin. */
  code: ExitCode
  method: string
  /** Until the upgrade ends; absent where it is not begun. */
  upgradeSeconds?: number
  /** From there until the last VM is on the new virt-launcher that gets there by itself; absent where none does. */
  vmUpdateSeconds?: number
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
  /** Absent where it does not end. */
  takes?: number
}

export interface RehearsedVm {
  namespace: string
  name: string
  /** Of its VMI in the cluster, and the image that this runs when the rehearsal begins: what becomes of it is told by them. */
  uid?: string
  launcher?: string
  /** What KubeVirt tries by itself. */
  tries: 'migrate' | 'evict' | 'nothing'
  /**
   * What becomes of it in the twin, where every migration succeeds that KubeVirt itself does not end: `updated` (it runs on the new virt-launcher), `outdated`
   * (still on its own, also where the upgrade does not reach its end), `stopped`. Not a promise for the cluster.
   */
  becomes: 'updated' | 'outdated' | 'stopped'
  /** How often it is tried. */
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
