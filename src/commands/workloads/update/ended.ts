import type { Context } from '../../../context.ts'
import type { StoppedBefore } from '../../../lib/output/views/wave-lines.ts'
import type { RunOutcome } from '../../../lib/procedure/run-context.ts'
import { goesOn } from '../../upgrade/next-lines.ts'

/** How a run of waves ended, in the fields of its document. */
export interface RunEnd {
  outcome: 'done' | 'stopped' | 'nothing-to-do'
  stoppedBefore?: StoppedBefore
  next?: readonly string[]
}

/** `borrowed`: commands that give back what is held meanwhile. */
export function endOfRun({ world }: Context, outcome: RunOutcome, borrowed: readonly string[]): RunEnd {
  if (outcome.is === 'nothing-to-do') return { outcome: 'nothing-to-do' }
  if (outcome.is === 'finished') return { outcome: 'done' }
  const { step, because } = outcome
  return {
    outcome: 'stopped',
    stoppedBefore: { step: step.id, because: `--${because}` },
    next: [goesOn(world.commandLine), ...borrowed],
  }
}
