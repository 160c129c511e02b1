import type { Step, StepState } from './step.ts'

type Waiting = Extract<StepState, { is: 'waiting' | 'stalled' }>

/** What happened, for a printer to put into words. `at` is RFC 3339. A new kind does not compile until output words it. */
export type RunEvent =
  | { kind: 'run-started'; at: string; procedure: string; steps: readonly StepSummary[] }
  /** Steps were found on the way: the whole list again. */
  | { kind: 'steps-known'; at: string; steps: readonly StepSummary[] }
  | { kind: 'step-started'; at: string; step: StepSummary; index: number; total: number }
  | { kind: 'step-applied'; at: string; step: StepSummary; change: string }
  | { kind: 'step-waiting'; at: string; step: StepSummary; state: Waiting; until: string }
  | { kind: 'step-done'; at: string; step: StepSummary; changed: boolean; note?: string; tookMs: number }
  | { kind: 'run-finished'; at: string; procedure: string; tookMs: number }
  /** Something to know on the way: a migration that failed, a watch that was refused, a 429. */
  | { kind: 'remark'; at: string; text: string }

export interface StepSummary extends Pick<Step, 'id' | 'title' | 'estimate'> {
  /** What it is of, together with those beside it: `platform 4.19`. Only in the lists of steps. */
  part?: string
  /** The minor of an upgrade path that it belongs to: `v1.7.4`. */
  hop?: string
}
