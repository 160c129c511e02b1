import { type Clock, ownClock } from '../system/clock.ts'

interface Leaving {
  signal: AbortSignal
  clock: Clock
  /** ms from the signal on. */
  within: number
  /** Called where the work was left. */
  left?: () => void
}

/**
 * What `work` gives, as long as nobody wants to leave. Once `signal` is aborted the work has a moment to end by itself; then it is left,
 * and the signal's reason is thrown: a server that is silent keeps nobody from leaving with the last words said.
 */
export async function leavingSoon<T>(work: Promise<T>, { signal, clock, within, left }: Leaving): Promise<T> {
  const done = new AbortController()
  const leave = new Promise<never>((_, reject) => {
    const begin = () =>
      void ownClock(clock)
        .sleep(within, done.signal)
        .then(
          () => {
            left?.()
            reject(signal.reason as Error)
          },
          () => undefined,
        )
    if (signal.aborted) begin()
    else signal.addEventListener('abort', begin, { once: true, signal: done.signal })
  })
  try {
    return await Promise.race([work, leave])
  } finally {
    done.abort(ended)
  }
}

/** Nobody reads it. */
const ended = new Error('it ended')
