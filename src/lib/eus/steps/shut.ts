import type { Gate } from '../../facts/gate.ts'
import type { Known } from '../../facts/known.ts'
import type { StepState } from '../../procedure/step.ts'
import { roleRemedy } from '../../system/role-remedy.ts'

/** What a step says while a gate is shut. */
export type Shut = Extract<StepState, { is: 'blocked' | 'stalled' | 'waiting' }>

/** Somebody says no. What is read and says neither is no "no" (night E1). */
export function saidNo(gate: Gate, on: string, show: string): Shut | undefined {
  if (gate.is !== 'no') return undefined
  return { is: 'stalled', on, why: gate.message || gate.reason, remedy: [show] }
}

/** What could not be read lets nothing through. */
export function unread(part: Known<unknown>, what: string): Shut | undefined {
  if (part.known) return undefined
  return {
    is: 'blocked',
    reason: 'gate-not-readable',
    by: `cannot tell whether ${what}: ${part.why}`,
    remedy: [roleRemedy('kvup-view')],
  }
}
