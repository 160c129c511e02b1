import type { Step } from '../../procedure/step.ts'
import type { StepStanding } from './window-status.ts'

/**
 * For how long it is harmless to leave a window as it stands: by the last step that is done. Where that one was only waited for, and the next has something to change,
 * nothing goes on by itself any more. Empty where no step is done.
 */
export function safeToLeave(
  steps: readonly Step[],
  standings: readonly StepStanding[],
): { safeToLeave?: string } {
  const done = standings.findLast(({ state }) => state === 'done')
  const last = steps.find(({ id }) => id === done?.id)
  const next = standings.find(({ state }) => state !== 'done')
  const isOurTurn = next?.state === 'todo' || next?.state === 'blocked'
  if (last === undefined) return {}
  if (last.apply === undefined && isOurTurn)
    return { safeToLeave: 'always: nothing goes on until it is run again' }
  return { safeToLeave: last.risk.safeToLeave }
}
