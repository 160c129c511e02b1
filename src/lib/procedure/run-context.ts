import type { Cluster, Writer } from '../cluster/cluster.ts'
import type { Clock } from '../system/clock.ts'
import type { RunEvent, StepSummary } from './events.ts'
import type { Journal } from './journal.ts'
import type { Lock } from './lock.ts'

/** What a run may touch, and how far it may go. */
export interface RunContext {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly journal: Journal
  readonly lock: Lock
  emit(event: RunEvent): void
  /** Aborted by Ctrl-C and SIGTERM; its reason is what the run then throws. */
  readonly signal: AbortSignal
  /** user@host, for the journal. */
  readonly who: string
  readonly limits: RunLimits
  /** The uid of the sealed plan that is carried out: written into every entry of the journal. */
  readonly plan?: string | undefined
  /** Compares what the step of this id is about to write, and throws before it is sent: with what a sealed plan says. */
  readonly writes?: ((step: string, writer: Writer) => Writer) | undefined
}

export interface RunLimits {
  /** The whole run, waiting for the lock not included; where it goes hop by hop, each of them. */
  timeoutMs: number
  /** No step is started whose estimate passes it. */
  deadline?: Date | undefined
  /** Ends after this step. */
  until?: string | undefined
  /** Ends before any of these, unless it is done already. */
  pauseBefore?: readonly string[] | undefined
}

export type StopReason = 'deadline' | 'until' | 'pause-before'

export type RunOutcome =
  /** The goal was reached already: nothing was locked or written. */
  | { is: 'nothing-to-do' }
  /** Every step is done; `changed` are the ids of those that this run applied. */
  | { is: 'finished'; changed: readonly string[]; tookMs: number }
  | {
      is: 'stopped-before'
      step: StepSummary
      because: StopReason
      changed: readonly string[]
      /** Of the last step that was done: how long it is harmless to stay here. */
      safeToLeave?: string
      tookMs: number
    }
