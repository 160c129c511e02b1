import type { Condition } from '../cluster/object.ts'

/** Whether somebody lets an update through, and why not in their words. `unknown` is no "no": each caller says what it makes of it. */
export type Gate = { is: 'yes' } | { is: 'no' | 'unknown'; reason: string; message: string }

export const yes: Gate = { is: 'yes' }

/** A condition of which True lets through; `absent` is what its absence means. */
export function gateOf(found: Condition | undefined, absent: Gate): Gate {
  if (!found) return absent
  const { status, type, reason = type, message = '' } = found
  return status === 'True' ? yes : { is: status === 'False' ? 'no' : 'unknown', reason, message }
}

export const unknownGate = (reason: string, message: string): Gate => ({ is: 'unknown', reason, message })
