import type { Context } from '../../context.ts'
import type { WaveRunDocument } from '../../lib/output/views/wave-run.ts'
import type { RunOutcome } from '../../lib/procedure/run-context.ts'
import { goesOn } from '../upgrade/next-lines.ts'

/** How a run of waves ended, in the fields of its document. */
type RunEnd = Pick<WaveRunDocument, 'outcome' | 'stoppedBefore' | 'next'>

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
