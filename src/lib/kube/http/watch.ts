import { type Clock, ticks } from '../clock.ts'
import { ApiError, messageOf } from '../errors.ts'
import type { Change, Where } from '../cluster.ts'
import { type Kind, type KubeObject, keyOf } from '../object.ts'
import { backoff, overloadOnly } from './backoff.ts'
import { chunks, objectPath, selectors, withQuery } from './lists.ts'
import { failureOfStatus } from './failure.ts'
import type { Requests } from './requests.ts'
import { type Subject, subjectOf } from './api-error.ts'
import type { Readable } from 'node:stream'

/** How often the list is read where watching is not allowed, and how often watching is tried again. */
const poll = 10_000
const pollsPerTry = 6
/** A watch that lived this long was a good one: its end is no reason to wait before the next. */
const goodWhile = 5_000

interface Tools {
  clock: Clock
  random: () => number
}

interface Watching<T extends KubeObject> {
  kind: Kind<T>
  where: Where
  signal: AbortSignal
}

/**
 * List, then watch, for as long as the signal lets it: a watch that ends goes on from its last resourceVersion, one
 * that cannot (410) begins with a list again, of which only the differences are told.
 */
export async function* watchObjects<T extends KubeObject>(
  requests: Requests,
  watching: Watching<T>,
  tools: Tools,
): AsyncGenerator<Change<T>> {
  const state = new WatchState(requests, watching, tools)
  const { signal } = watching
  try {
    while (!signal.aborted) yield* state.once()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Under the five minutes after which many proxies cut a connection. */
const longestWatch = 290
const spread = 20

class WatchState<T extends KubeObject> {
  readonly #requests: Requests
  readonly #watching: Watching<T>
  readonly #tools: Tools
  readonly #known: Known<T>
  /** Undefined: only a list can tell where things stand. */
  #at: string | undefined
  #failures = 0
  #lost = false
  /** Watching was refused: the list is read again and again, and changes between two readings are missed. */
  #polling = false
  #pollsLeft = 0

  constructor(requests: Requests, watching: Watching<T>, tools: Tools) {
    this.#requests = requests
    this.#watching = watching
    this.#tools = tools
    this.#known = new Known(watching.kind)
  }

  /** One list or one watch, and what its failure means. */
  async *once(): AsyncGenerator<Change<T>> {
    try {
      if (this.#at === undefined) yield* this.#list()
      else if (this.#pollsLeft > 0) {
        this.#pollsLeft--
        await this.#pause(poll)
        yield* this.#list()
      } else yield* this.#watch(this.#at)
    } catch (error) {
      this.#watching.signal.throwIfAborted()
      yield* this.#failed(error)
    }
  }

  async *#list(): AsyncGenerator<Change<T>> {
    this.#known.beginPass()
    let at = ''
    for await (const page of chunks(this.#requests, { ...this.#watching, patience: overloadOnly })) {
      for (const item of page.items) yield* this.#known.observed(item)
      at = page.resourceVersion
    }
    yield* this.#known.missing()
    this.#at = at
    this.#failures = 0
    this.#lost = this.#polling
    yield { type: 'synced' }
  }

  async *#watch(from: string): AsyncGenerator<Change<T>> {
    const began = ticks(this.#tools.clock)
    const events = await this.#events(from)
    this.#polling = this.#lost = false
    for await (const { type, object } of events) {
      this.#at = object.metadata.resourceVersion ?? this.#at
      this.#failures = 0
      if (type === 'DELETED') yield* this.#known.gone(object)
      else if (type !== 'BOOKMARK') yield* this.#known.observed(object)
    }
    // A server that ends every watch at once must not be asked without a pause.
    if (ticks(this.#tools.clock) - began < goodWhile)
      await this.#pause(backoff(this.#failures++, this.#tools.random))
    else this.#failures = 0
  }

  /** Resolves when the server has accepted the watch, which ends sooner or later. */
  async #events(resourceVersion: string): Promise<AsyncIterable<WatchEvent<T>>> {
    const { kind, where, signal } = this.#watching
    const seconds = Math.round(longestWatch - this.#tools.random() * spread)
    const path = withQuery(objectPath(kind, { namespace: where.namespace }), {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion,
      timeoutSeconds: String(seconds),
      ...selectors(where),
    })
    const subject = this.#subject('watch')
    const call = { method: 'GET', path, subject, patience: overloadOnly, signal } as const
    const { body } = await this.#requests.stream(call)
    return this.#parsed(untilQuiet(body, seconds * 1000), path)
  }

  async *#parsed(bytes: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<WatchEvent<T>> {
    for await (const line of lines(bytes)) {
      this.#requests.traceLine(path, line)
      const event = JSON.parse(line) as WatchEvent<T> | { type: 'ERROR'; object: { code?: number } }
      if (event.type === 'ERROR')
        throw this.#requests.error(failureOfStatus(event.object), this.#subject('watch'))
      yield event
    }
  }

  #subject(verb: string): Subject {
    const { kind, where } = this.#watching
    return subjectOf(verb, kind, { namespace: where.namespace })
  }

  async *#failed(error: unknown): AsyncGenerator<Change<T>> {
    const status = error instanceof ApiError ? error.status : 0
    const next = this.#afterFailure(status)
    this.#failures++
    if (next === 'resume') return
    if (next === 'poll') {
      this.#polling = true
      this.#pollsLeft = pollsPerTry
    } else this.#at = undefined
    if (next !== 'list' && !this.#lost) {
      this.#lost = true
      yield { type: 'lost', why: messageOf(error) }
    }
    if (next === 'poll' || (next === 'list' && this.#failures <= 1)) return
    const isRefused = status === 401 || status === 403 || status === 404
    await this.#pause(isRefused ? poll : backoff(this.#failures - 1, this.#tools.random))
  }

  /** One cut is mended by asking again; only if that fails as well may changes be missed. */
  #afterFailure(status: number): 'resume' | 'list' | 'poll' | 'wait' {
    if (status === 410) return 'list'
    const watching = this.#at !== undefined
    if (watching && status === 403) return 'poll'
    const passing = status === 0 || status >= 500
    return watching && passing && this.#failures === 0 ? 'resume' : 'wait'
  }

  #pause(ms: number): Promise<void> {
    return this.#tools.clock.sleep(ms, this.#watching.signal)
  }
}

interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  object: T
}

interface Entry {
  uid: string
  resourceVersion: string
  /** The pass over the whole list in which it was seen last. */
  pass: number
}

type Told<T> = Extract<Change<T>, { object: T }>

/** What was told of each object: enough to tell a change from a repetition, and not the objects themselves. */
export class Known<T extends KubeObject> {
  readonly #kind: Kind<T>
  readonly #entries = new Map<string, Entry>()
  #pass = 0

  constructor(kind: Kind<T>) {
    this.#kind = kind
  }

  /** A list begins: whatever `seen` does not name until `missing` is gone. */
  beginPass(): void {
    this.#pass++
  }

  /** An object that is there: new, changed, replaced by one of the same name, or nothing new. */
  *observed(object: T): Generator<Told<T>> {
    const { uid = '', resourceVersion = '' } = object.metadata
    const key = keyOf(object)
    const before = this.#entries.get(key)
    this.#entries.set(key, { uid, resourceVersion, pass: this.#pass })
    if (before !== undefined && before.uid !== uid)
      yield { type: 'deleted', object: this.#trace(key, before) }
    if (before?.uid !== uid) yield { type: 'added', object }
    else if (before.resourceVersion !== resourceVersion || resourceVersion === '')
      yield { type: 'modified', object }
  }

  *gone(object: T): Generator<Told<T>> {
    const key = keyOf(object)
    const before = this.#entries.get(key)
    if (before === undefined || (object.metadata.uid !== undefined && before.uid !== object.metadata.uid))
      return
    this.#entries.delete(key)
    yield { type: 'deleted', object }
  }

  /** After a whole list: what it no longer names, with its identity only. */
  *missing(): Generator<Told<T>> {
    for (const [key, entry] of this.#entries) {
      if (entry.pass === this.#pass) continue
      this.#entries.delete(key)
      yield { type: 'deleted', object: this.#trace(key, entry) }
    }
  }

  #trace(key: string, { uid, resourceVersion }: Entry): T {
    const [namespace = '', name = ''] = key.split('/')
    const metadata = { name, ...(namespace !== '' && { namespace }), uid, resourceVersion }
    const { apiVersion, kind } = this.#kind
    return { apiVersion, kind, metadata } as T
  }
}

/** An API server sends a bookmark about once a minute; after the first one, so long a silence is a dead connection. */
const bookmarksMissed = 150_000
const grace = 10_000

/**
 * The bytes of a watch, cut when nobody can be at the other end any more: a proxy that forgot the connection keeps
 * it open without a word. `lifetime` is what the server was asked for, in ms.
 */
export async function* untilQuiet(
  body: Readable,
  lifetime: number,
  quiet = bookmarksMissed,
): AsyncGenerator<Uint8Array> {
  let timer = setTimeout(cut, lifetime + grace)
  function cut(): void {
    body.destroy(Object.assign(new Error('the watch went silent'), { code: 'ECONNRESET' }))
  }
  try {
    for await (const piece of body) {
      const bytes = piece as Uint8Array
      if (isBookmark(bytes)) {
        clearTimeout(timer)
        timer = setTimeout(cut, Math.min(quiet, lifetime + grace))
      } else timer.refresh()
      yield bytes
    }
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
}

function isBookmark(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 30)).includes('"BOOKMARK"')
}

/** An object has 1.5 MB at most. */
const longestLine = 64 * 1024 * 1024

/** The lines of a stream of bytes, whole however they were cut on the way. Blank ones are left out. Throws for one without an end. */
export async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let begun = ''
  for await (const piece of bytes) {
    const parts = decoder.decode(piece, { stream: true }).split('\n')
    parts[0] = begun + (parts[0] ?? '')
    begun = parts.pop() ?? ''
    if (begun.length > longestLine) throw new Error('a line of the answer is longer than 64 MB')
    for (const line of parts) if (line.trim() !== '') yield line
  }
  begun += decoder.decode()
  if (begun.trim() !== '') yield begun
}
