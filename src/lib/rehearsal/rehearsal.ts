import type { Document } from '../output/printer.ts'
import type { ExitCode } from '../kube/errors.ts'

/** What an upgrade does on the twin of a cluster. Times are seconds of the twin's own clock, from the first step of the upgrade. */
export interface Rehearsal extends Document {
  kind: 'Rehearsal'
  /** `through`: the upgrade reaches its end. `stalls`: it does not come on. `blocked`: it is not begun. */
  outcome: 'through' | 'stalls' | 'blocked'
  /** The exit code with which the upgrade itself ends on the twin. */
  code: ExitCode
  from: string
  to: string
  method: string
  /** The same seed and the same cluster make the same rehearsal. */
  seed: number
  /** Absent: none was asked for. */
  faults?: readonly string[]
  twin: { nodes: number; running: number; vms: number }
  /** Until the upgrade ends, and until KubeVirt has done with VMs what it does by itself. */
  upgradeSeconds?: number
  vmUpdateSeconds?: number
  stages: readonly RehearsedStage[]
  /** Running VMs and what KubeVirt tries with them, by name. */
  vms: readonly RehearsedVm[]
  /** Why it stalls or is blocked, as the upgrade says it. */
  why?: RehearsedFailure
  /** What of the cluster is not in the twin, a sentence for each. */
  missing: readonly string[]
  next: readonly string[]
}

/** A stage of the upgrade as the live view counts them. */
export interface RehearsedStage {
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
  /** What KubeVirt tries by itself. */
  tries: 'migrate' | 'evict' | 'nothing'
  /**
   * What becomes of it in the twin, where every migration succeeds that KubeVirt itself does not end: `updated` (it runs on the new virt-launcher), `outdated`, `stopped`. Not
   * a promise for the cluster.
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
  /** Commands that help, as the upgrade prints them. */
  remedy: readonly string[]
}
