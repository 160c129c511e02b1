import type { Page, Reader, Where } from './cluster.ts'
import type { Kind } from './kind.ts'
import type { KubeObject } from './object.ts'
import { readerWith } from './reader-with.ts'

type Work = (reader: Reader) => unknown
/** One of the works: the same may come twice. */
interface Comer {
  work: Work
}

type Results<W extends readonly Work[]> = { -readonly [I in keyof W]: Awaited<ReturnType<W[I]>> }

/**
 * Carries works out at the same time, of which each goes once through all objects of a large kind: it is listed once, and each page goes to all of them before the next
 * is asked for, so that none is kept. Begins when every work has come to it, or to its end. Who wants a part of it, or all of it once more, reads for itself. No work may
 * wait for another. Gives what they give, and throws what one throws.
 */
export async function inOnePass<T extends KubeObject, const W extends readonly Work[]>(
  reader: Reader,
  kind: Kind<T>,
  works: W,
): Promise<Results<W>> {
  const comers = works.map((work) => ({ work }))
  const pass = new OnePass(() => reader.pages(kind), comers)
  const carriedOut = async (comer: Comer) => {
    let hasAsked = false
    const pages: Reader['pages'] = (asked, where) => {
      if (
        hasAsked ||
        asked.plural !== kind.plural ||
        asked.apiVersion !== kind.apiVersion ||
        isNarrowed(where)
      )
        return reader.pages(asked, where)
      hasAsked = true
      return pass.pagesFor(comer) as AsyncIterable<Page<never>>
    }
    try {
      return await comer.work(readerWith(reader, { pages }))
    } finally {
      pass.leave(comer)
    }
  }
  return (await Promise.all(comers.map(carriedOut))) as Results<W>
}

const isNarrowed = ({ namespace, name, labels, fields }: Where = {}): boolean =>
  [namespace, name, labels, fields].some((one) => one !== undefined)

/** A page is asked for as soon as everybody waits for one. */
class OnePass<T> {
  readonly #list: () => AsyncIterable<Page<T>>
  /** Those that have not come yet, and those that want more. */
  readonly #open: Set<Comer>
  readonly #waiting = new Map<Comer, PromiseWithResolvers<IteratorResult<Page<T>>>>()
  #source: AsyncIterator<Page<T>> | undefined

  constructor(list: () => AsyncIterable<Page<T>>, comers: readonly Comer[]) {
    this.#list = list
    this.#open = new Set(comers)
  }

  async *pagesFor(comer: Comer): AsyncGenerator<Page<T>> {
    try {
      for (;;) {
        const next = await this.#next(comer)
        if (next.done) return
        yield next.value
      }
    } finally {
      this.leave(comer)
    }
  }

  leave(comer: Comer): void {
    this.#open.delete(comer)
    this.#turn()
  }

  #next(comer: Comer): Promise<IteratorResult<Page<T>>> {
    const waiting = Promise.withResolvers<IteratorResult<Page<T>>>()
    this.#waiting.set(comer, waiting)
    this.#turn()
    return waiting.promise
  }

  #turn(): void {
    if (this.#waiting.size === 0 || this.#waiting.size < this.#open.size) return
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#source ??= this.#list()[Symbol.asyncIterator]()
    this.#source.next().then(
      (page) => all.forEach(({ resolve }) => resolve(page)),
      (error: unknown) => all.forEach(({ reject }) => reject(error)),
    )
  }
}
