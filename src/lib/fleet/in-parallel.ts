import type { Clock } from '../kube/clock.ts'
import { type KvupError, unreachable } from '../kube/errors.ts'
import { spanText } from '../kube/duration.ts'

/** Does the work of each, at most so many at a time, and gives what came of each in their order. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await work(items[index] as T, index)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  return results
}

const late = (ms: number): KvupError =>
  unreachable('unreachable', `no answer within ${spanText(ms)} (--cluster-timeout)`, {
    remedy: 'kvup status --request-timeout 10s     asks that cluster alone',
  })

/** What `work` gives within `ms`; later it counts as a cluster that does not answer. Throws the reason of `signal`. */
export async function withinTime<T>(
  work: Promise<T>,
  { clock, ms, signal }: { clock: Clock; ms: number; signal: AbortSignal },
): Promise<T> {
  const done = new AbortController()
  const giveUp = clock.sleep(ms, AbortSignal.any([done.signal, signal])).then(() => {
    throw late(ms)
  })
  // What fails once nobody waits for it any more is nobody's business.
  for (const one of [work, giveUp]) one.catch(() => undefined)
  try {
    return await Promise.race([work, giveUp])
  } finally {
    done.abort(new Error('it is over'))
  }
}
