import { type Clock, ownClock, ownTicks } from './clock.ts'

interface Leaving {
  signal: AbortSignal
  clock: Clock
  /** ms from the signal on. */
  within: number
  /** Called where the work was left. */
  left?: () => void
}

/** How many ms of the two seconds are left in which an interrupted command has to be gone; all of it where nobody interrupted. */
export function leftOf(all: number, { signal, clock }: Pick<Leaving, 'signal' | 'clock'>): () => number {
  let at: number | undefined
  const began = () => (at = ownTicks(clock))
  if (signal.aborted) began()
  else signal.addEventListener('abort', began, { once: true })
  return () => Math.max(0, at === undefined ? all : at + all - ownTicks(clock))
}

/**
 * What `work` gives, as long as nobody wants to leave. Once `signal` is aborted the work has a moment to end by itself; then it is left,
 * and the signal's reason is thrown: a server that is silent keeps nobody from leaving with the last words said.
 */
export async function leavingSoon<T>(
  work: Promise<T>,
  { signal, clock, within: moment, left }: Leaving,
): Promise<T> {
  const done = new AbortController()
  const leave = new Promise<never>((_, reject) => {
    const begin = async () => {
      await ownClock(clock).sleep(moment, done.signal)
      left?.()
      reject(signal.reason as Error)
    }
    const beginning = () => void begin().catch(() => undefined)
    if (signal.aborted) beginning()
    else signal.addEventListener('abort', beginning, { once: true, signal: done.signal })
  })
  try {
    return await Promise.race([work, leave])
  } finally {
    done.abort(ended)
  }
}

/** Nobody reads it. */
const ended = new Error('it ended')

/** What `work` gives, or the signal's reason as soon as it is aborted; the work is then left to itself. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

const not = (): boolean => false

/** Whether `work` was done within `ms`; false as well when it fails. What becomes of it later is nobody's business. */
export async function isDoneWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const done = new AbortController()
  const over = ownClock(clock).sleep(ms, done.signal).then(not, not)
  try {
    return await Promise.race([work.then(() => true, not), over])
  } finally {
    done.abort()
  }
}
