import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { hours, seconds } from '../../system/units.ts'
import { poolPaused } from '../loans/fields.ts'
import { loanNamed } from '../loans/find-borrowed.ts'
import { takeField, type Taking } from '../loans/take.ts'
import { poolAppeared } from '../steps/borrowed-still.ts'
import { keptBaseline } from '../steps/kept.ts'
import { readPool, untilUpdated } from '../steps/pool-now.ts'
import type { PausablePool } from './pausable-pools.ts'
import type { EusWindow } from './window.ts'

/** How long a pool may roll before it is paused. */
const untilQuiet = { every: 15 * seconds, atMost: 24 * hours }

/**
 * One that was not there at the beginning is asked about first. Whichever it is, it has to be through with what it was told before it is paused (night E5): at the look it was,
 * and since then somebody may have given it more. One that is ours already is paused again at once.
 */
export function pausePool(
  window: Pick<EusWindow, 'name' | 'request'>,
  pool: PausablePool,
  taking: Omit<Taking, 'id' | 'title'>,
): Step {
  const field = poolPaused(pool)
  const take = takeField(field, {
    id: `pause-${pool.name}`,
    title: `pause pool ${pool.name}`,
    ...taking,
  })
  return {
    ...take,
    patience: untilQuiet,
    async check(cx): Promise<StepState> {
      const state = await take.check(cx)
      if (state.is !== 'todo' || loanNamed(await cx.journal.loans(), field.loan)) return state
      if (!(await isKnown(window, pool, cx))) return poolAppeared(pool.name, window.request.command)
      return untilUpdated(await readPool(cx.reader, pool.name)) ?? state
    },
  }
}

async function isKnown(
  { name, request }: Pick<EusWindow, 'name' | 'request'>,
  pool: PausablePool,
  { journal }: ReadContext,
): Promise<boolean> {
  if (request.accepted.includes('pool-appeared')) return true
  const began = await keptBaseline(journal, name)
  return began === undefined || began.pools.includes(pool.name)
}
