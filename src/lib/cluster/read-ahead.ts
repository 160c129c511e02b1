import type { Page } from './cluster.ts'

/** The same pages; the next one is fetched while the one before it is worked on, so that two are held at most. */
export async function* readAhead<T>(pages: AsyncIterable<Page<T>>): AsyncGenerator<Page<T>> {
  const source = pages[Symbol.asyncIterator]()
  let next = source.next()
  try {
    for (;;) {
      const page = await next
      if (page.done) return
      next = source.next()
      // Awaited in the next turn, or never where the reader has enough.
      next.catch(() => undefined)
      yield page.value
    }
  } finally {
    void source.return?.()
  }
}
