import { ownClock } from '../system/clock.ts'
import { nothingToDo } from './nothing-to-do.ts'
import { OneRun } from './one-run.ts'
import type { RunContext, RunOutcome } from './run-context.ts'
import type { Procedure, ReadContext, Step } from './step.ts'
import { StepSequence } from './step-sequence.ts'
import { ensureStepsExist } from './stopping.ts'
import { unlessAborted } from './unless-aborted.ts'

/** A journal that cannot be reached must not keep us from leaving. */
const farewellWithin = 900

/**
 * Runs the steps in their order; where they stand is asked of the cluster, so resuming is running again. A step that is done
 * costs one read, one that is not is applied at most once, journalled before and after, and waited for: woken by what it
 * follows. Throws `blocked` (3), `timedOut` (4), `locked` (6), `forbidden` (7), or the reason of `signal`, which ends a wait
 * and never an apply; the end of the run's time leaves an apply that gets no answer, as a kill would.
 */
export async function runProcedure(procedure: Procedure, cx: RunContext): Promise<RunOutcome> {
  const { clock, journal, signal, limits } = cx
  const reading: ReadContext = { reader: cx.cluster.reader, clock, journal }
  if (await unlessAborted(nothingToDo(procedure, reading), signal)) return { is: 'nothing-to-do' }
  if (limits.until !== undefined || limits.pauseBefore !== undefined)
    ensureStepsExist(limits, await unlessAborted(procedure.steps(reading), signal))
  const remark = (text: string) => cx.emit({ kind: 'remark', at: clock.now().toISOString(), text })
  return cx.lock.hold((held) => underLock(new OneRun(procedure, cx, held)), { signal, remark })
}

async function underLock(run: OneRun): Promise<RunOutcome> {
  const sequence = new StepSequence(run)
  try {
    const outcome = await sequence.run()
    if (outcome.is === 'stopped-before') await shortly(run, leave(run))
    return outcome
  } catch (error) {
    await farewell(run, sequence.current, error)
    throw error
  } finally {
    run.eyes.close()
  }
}

/** Says and writes down how it ended, as far as that is still possible: who lost the lock cannot write. */
async function farewell(run: OneRun, step: Step | undefined, error: unknown): Promise<void> {
  const why = error instanceof Error ? error.message : String(error)
  const what = run.cx.signal.aborted ? 'interrupted' : 'failed'
  const during = step ? ` during "${step.title}"` : ''
  if (what === 'interrupted')
    run.remark(`${why}${during}; what is under way in the cluster goes on by itself`)
  await shortly(run, Promise.all([leave(run), run.record(what, step?.id ?? '', why).catch(() => undefined)]))
}

/** It is on its way out: what cannot be changed any more is told by what comes after, never by another failure. */
async function leave(run: OneRun): Promise<void> {
  const done = await run.procedure.leaving?.(run.writing).catch(() => undefined)
  if (done !== undefined) run.remark(done)
}

async function shortly(run: OneRun, work: Promise<unknown>): Promise<void> {
  const patience = new AbortController()
  const over = ownClock(run.cx.clock).sleep(farewellWithin, patience.signal)
  await Promise.race([work, over.catch(() => undefined)])
  patience.abort()
}
