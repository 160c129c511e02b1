import { type Clock, ownClock } from '../../lib/system/clock.ts'

/** Whether `work` was done within `ms`; false as well when it fails. What becomes of it later is nobody's business. */
export async function within(clock: Clock, ms: number, work: Promise<void>): Promise<boolean> {
  const done = new AbortController()
  const quiet = work.then(
    () => true,
    () => false,
  )
  const over = ownClock(clock)
    .sleep(ms, done.signal)
    .then(
      () => false,
      () => false,
    )
  try {
    return await Promise.race([quiet, over])
  } finally {
    done.abort()
  }
}
