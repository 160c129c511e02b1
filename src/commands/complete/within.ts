import type { Clock } from '../../lib/system/clock.ts'

/** What `work` comes to; undefined when it fails or takes longer than `ms`. What it throws later is nobody's business. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const done = new AbortController()
  const quiet = work.catch(() => undefined)
  const over = clock.sleep(ms, done.signal).catch(() => undefined)
  try {
    return (await Promise.race([quiet, over])) ?? undefined
  } finally {
    done.abort()
  }
}
