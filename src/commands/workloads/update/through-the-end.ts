import type { RunOutcome } from '../../../lib/procedure/run-context.ts'
import { runProcedure } from '../../../lib/procedure/run.ts'
import { carryOut, type Hands, type Work } from '../../../lib/run/carry-out.ts'
import { settledAgainId } from '../../../lib/workloads/update/update-procedure.ts'

/** `--until` of the last wave is no reason to stay on the loan: what is left then only gives it back. */
export async function throughTheEnd(work: Work, hands: Hands): Promise<RunOutcome> {
  const outcome = await carryOut(work, hands)
  if (outcome.is !== 'stopped-before' || outcome.step.id !== settledAgainId) return outcome
  return runProcedure(work.procedure, { ...hands, limits: { timeoutMs: work.limits.timeoutMs } })
}
