import { type Cluster, type Page, type Reader, readerWith, type Where } from './cluster.ts'
import { ApiError } from './errors.ts'
import { type Kind, type KubeObject, parseLabels, wholeOf, keyOf } from './object.ts'

/** Each question is asked once and its answer remembered; a failure is not, so that whoever asks again tries again. */
export class Answers {
  readonly #known = new Map<string, Promise<unknown>>()

  /** `question` says all that `ask` depends on. */
  once<T>(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(question) as Promise<T> | undefined
    if (known !== undefined) return known
    const answer = ask()
    this.#known.set(question, answer)
    answer.catch(() => this.#known.delete(question))
    return answer
  }

  forget(): void {
    this.#known.clear()
  }
}

/**
 * A Reader for one look: every list is read once, so that all that is judged by it is judged by the same cluster. A single object is read
 * anew each time, for a write that builds on it has to know its present state; so are pages, which nobody keeps.
 */
export function onceCached(live: Reader): Reader {
  const lists = new Answers()
  return readerWith(live, {
    list: (kind, where) => lists.once(questionOf(kind, where), () => live.list(kind, where)),
    versions: (group) => lists.once(`versions of ${group}`, () => live.versions(group)),
    version: () => lists.once('version', () => live.version()),
  })
}

/** Objects of a page that is asked for once for all who go through a kind. */
const sharedPage = 250

/**
 * The same for a look that is cheap: a kind that fits one page is read once, whoever asks for all of it, for its metadata or for a part of it. What does not is read by
 * each for himself, but for that page.
 */
export function oncePaged(live: Reader): Reader {
  const answers = new Answers()
  const firsts = new Map<string, Promise<Page<KubeObject>>>()
  const cached = onceCached(live)
  const firstOf = (kind: Kind): Promise<Page<KubeObject>> => {
    const first = answers.once(collectionOf(kind), () => firstPage(live, wholeOf(kind)))
    firsts.set(collectionOf(kind), first)
    return first
  }
  /** Of a kind that was asked for as a whole, and is there as a whole. */
  const known = async <T extends KubeObject>(kind: Kind<T>, where: Where = {}): Promise<T[] | undefined> => {
    if (where.fields !== undefined || where.name !== undefined) return undefined
    const first = await firsts.get(collectionOf(kind))?.catch(() => undefined)
    return first?.isLast ? (first.items as T[]).filter(fitting(where)) : undefined
  }
  async function* pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}): AsyncGenerator<Page<T>> {
    const part = isNarrowed(where) || (where.pageSize ?? sharedPage) < sharedPage
    const items = part ? await known(kind, where) : undefined
    if (items !== undefined) yield { items, resourceVersion: '', isLast: true }
    else if (part) yield* live.pages(kind, where)
    else yield* shared(kind, where)
  }
  async function* shared<T extends KubeObject>(kind: Kind<T>, where: Where): AsyncGenerator<Page<T>> {
    const first = (await firstOf(kind)) as Page<T>
    yield first
    if (first.isLast) return
    const last = first.items.at(-1)
    // As a list goes on that began again: by namespace and name.
    for await (const page of live.pages(kind, where)) {
      const fresh = last ? page.items.filter((item) => keyOf(item) > keyOf(last)) : page.items
      if (fresh.length > 0) yield { ...page, items: fresh }
    }
  }
  return readerWith(cached, {
    pages,
    list: async (kind, where) => {
      if (isNarrowed(where)) return (await known(kind, where)) ?? cached.list(kind, where)
      const first = (await firstOf(kind)) as Page<never>
      return first.isLast ? [...first.items] : cached.list(kind, where)
    },
  })
}

const collectionOf = ({ apiVersion, plural }: Kind): string => `${apiVersion}/${plural}`

async function firstPage<T extends KubeObject>(reader: Reader, kind: Kind<T>): Promise<Page<T>> {
  for await (const page of reader.pages(kind, { pageSize: sharedPage })) return page
  return { items: [], resourceVersion: '', isLast: true }
}

function fitting({ namespace, labels }: Where): (object: KubeObject) => boolean {
  const isWanted = parseLabels(labels, (why) => new Error(why))
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) && isWanted(metadata.labels)
}

/** Of what API groups a server has, as `/apis` lists them. */
interface GroupList {
  groups?: readonly { name?: unknown }[]
}

/** The same for a look that is cheap: what is of a group that the server does not list is not asked for. Where it does not list them, all is. */
export async function withKnownGroups({
  reader,
  askOnce,
}: Pick<Cluster, 'reader' | 'askOnce'>): Promise<Reader> {
  const listed = (await askOnce?.(groupsWithin)
    .path('/apis')
    .catch(() => undefined)) as GroupList | undefined
  if (!Array.isArray(listed?.groups) || listed.groups.length === 0) return reader
  const known = new Set(listed.groups.map(({ name }) => name))
  const isServed = ({ apiVersion }: Kind) => !apiVersion.includes('/') || known.has(apiVersion.split('/')[0])
  const unserved = new ApiError(404, 'NotFound', 'the server could not find the requested resource')
  return readerWith(reader, {
    get: async (kind, ref) => (isServed(kind) ? reader.get(kind, ref) : { is: 'unserved' }),
    list: async (kind, where) => {
      if (isServed(kind)) return reader.list(kind, where)
      throw unserved
    },
    pages: (kind, where) => (isServed(kind) ? reader.pages(kind, where) : failing(unserved)),
    versions: async (group) => (group === '' || known.has(group) ? reader.versions(group) : []),
  })
}

/** ms. */
const groupsWithin = 5000

// eslint-disable-next-line require-yield
async function* failing(error: Error): AsyncGenerator<never> {
  throw error
}

const questionOf = (
  { apiVersion, plural, metadataOnly }: Kind,
  { namespace, name, labels, fields }: Where = {},
): string => JSON.stringify([apiVersion, plural, metadataOnly, namespace, name, labels, fields])

type Work = (reader: Reader) => unknown
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
  type Next = IteratorResult<Page<T>>
  /** By their places: those that have not come yet, and those that want more. */
  const open = new Set(works.keys())
  const waiting = new Map<number, PromiseWithResolvers<Next>>()
  let source: AsyncIterator<Page<T>> | undefined
  /** A page is asked for as soon as everybody waits for one. */
  const turn = () => {
    if (waiting.size === 0 || waiting.size < open.size) return
    const all = [...waiting.values()]
    waiting.clear()
    source ??= reader.pages(kind)[Symbol.asyncIterator]()
    source.next().then(
      (page) => all.forEach(({ resolve }) => resolve(page)),
      (error: unknown) => all.forEach(({ reject }) => reject(error)),
    )
  }
  const leave = (one: number) => {
    open.delete(one)
    turn()
  }
  const next = (one: number): Promise<Next> => {
    const coming = Promise.withResolvers<Next>()
    waiting.set(one, coming)
    turn()
    return coming.promise
  }
  async function* pagesFor(one: number): AsyncGenerator<Page<T>> {
    try {
      for (let page = await next(one); !page.done; page = await next(one)) yield page.value
    } finally {
      leave(one)
    }
  }
  const carriedOut = async (work: Work, one: number) => {
    let hasAsked = false
    const pages: Reader['pages'] = (asked, where) => {
      if (hasAsked || collectionOf(asked) !== collectionOf(kind) || isNarrowed(where))
        return reader.pages(asked, where)
      hasAsked = true
      return pagesFor(one) as AsyncIterable<Page<never>>
    }
    try {
      return await work(readerWith(reader, { pages }))
    } finally {
      leave(one)
    }
  }
  return (await Promise.all(works.map(carriedOut))) as Results<W>
}

const isNarrowed = ({ namespace, name, labels, fields }: Where = {}): boolean =>
  [namespace, name, labels, fields].some((one) => one !== undefined)

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

/** Page by page: only what is wanted of a large kind stays. Throws ApiError. */
export async function picked<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  isWanted: (object: T) => boolean,
): Promise<T[]> {
  const found: T[] = []
  for await (const { items } of readAhead(reader.pages(kind))) found.push(...items.filter(isWanted))
  return found
}
