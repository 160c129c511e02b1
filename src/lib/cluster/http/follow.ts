import { type Clock, ticks } from '../../system/clock.ts'
import { ApiError } from '../../system/errors.ts'
import type { Change } from '../cluster.ts'
import type { KubeObject } from '../object.ts'
import { backoff } from './backoff.ts'
import { Known } from './known.ts'
import type { WatchSource } from './watch-source.ts'

/** How often the list is read where watching is not allowed, and how often watching is tried again. */
const poll = 10_000
const pollsPerTry = 6
/** A watch that lived this long was a good one: its end is no reason to wait before the next. */
const goodLife = 5_000

interface Tools {
  clock: Clock
  random: () => number
}

/**
 * List, then watch, for as long as the signal lets it: a watch that ends goes on from its last resourceVersion, one
 * that cannot (410) begins with a list again, of which only the differences are told.
 */
export async function* follow<T extends KubeObject>(
  source: WatchSource<T>,
  tools: Tools,
  signal: AbortSignal,
): AsyncGenerator<Change<T>> {
  const following = new Following(source, tools, signal)
  try {
    while (!signal.aborted) yield* following.once()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

class Following<T extends KubeObject> {
  readonly #source: WatchSource<T>
  readonly #tools: Tools
  readonly #signal: AbortSignal
  readonly #known: Known<T>
  /** Undefined: only a list can tell where things stand. */
  #at: string | undefined
  #failures = 0
  #lost = false
  /** Watching was refused: the list is read again and again, and changes between two readings are missed. */
  #polling = false
  #pollsLeft = 0

  constructor(source: WatchSource<T>, tools: Tools, signal: AbortSignal) {
    this.#source = source
    this.#tools = tools
    this.#signal = signal
    this.#known = new Known(source.kind)
  }

  /** One list or one watch, and what its failure means. */
  async *once(): AsyncGenerator<Change<T>> {
    try {
      if (this.#at === undefined) yield* this.#list()
      else if (this.#pollsLeft > 0) yield* this.#pollAgain()
      else yield* this.#watch(this.#at)
    } catch (error) {
      this.#signal.throwIfAborted()
      yield* this.#failed(error)
    }
  }

  async *#list(): AsyncGenerator<Change<T>> {
    this.#known.beginPass()
    let at = ''
    for await (const page of this.#source.pages()) {
      for (const item of page.items) yield* this.#known.seen(item)
      at = page.resourceVersion
    }
    yield* this.#known.missing()
    this.#at = at
    this.#failures = 0
    this.#lost = this.#polling
    yield { type: 'synced' }
  }

  async *#pollAgain(): AsyncGenerator<Change<T>> {
    this.#pollsLeft--
    await this.#tools.clock.sleep(poll, this.#signal)
    yield* this.#list()
  }

  async *#watch(from: string): AsyncGenerator<Change<T>> {
    const began = this.#now()
    const events = await this.#source.watch(from)
    this.#polling = this.#lost = false
    for await (const { type, object } of events) {
      this.#at = object.metadata.resourceVersion ?? this.#at
      this.#failures = 0
      if (type === 'DELETED') yield* this.#known.gone(object)
      else if (type !== 'BOOKMARK') yield* this.#known.seen(object)
    }
    // A server that ends every watch at once must not be asked without a pause.
    if (this.#now() - began < goodLife) await this.#pause(backoff(this.#failures++, this.#tools.random))
    else this.#failures = 0
  }

  async *#failed(error: unknown): AsyncGenerator<Change<T>> {
    const status = error instanceof ApiError ? error.status : 0
    const next = this.#afterFailure(status)
    this.#failures++
    if (next === 'resume') return
    if (next === 'poll') this.#beginPolling()
    else this.#at = undefined
    if (next !== 'list') yield* this.#lose(error)
    if (next !== 'poll' && (next === 'wait' || this.#failures > 1)) await this.#pause(this.#waitAfter(status))
  }

  #beginPolling(): void {
    this.#polling = true
    this.#pollsLeft = pollsPerTry
  }

  /** One cut is mended by asking again; only if that fails as well may changes be missed. */
  #afterFailure(status: number): 'resume' | 'list' | 'poll' | 'wait' {
    if (status === 410) return 'list'
    const watching = this.#at !== undefined
    if (watching && status === 403) return 'poll'
    const passing = status === 0 || status >= 500
    return watching && passing && this.#failures === 0 ? 'resume' : 'wait'
  }

  *#lose(error: unknown): Generator<Change<T>> {
    if (this.#lost) return
    this.#lost = true
    yield { type: 'lost', why: error instanceof Error ? error.message : String(error) }
  }

  #waitAfter(status: number): number {
    const refused = status === 401 || status === 403 || status === 404
    return refused ? poll : backoff(this.#failures - 1, this.#tools.random)
  }

  #pause(ms: number): Promise<void> {
    return this.#tools.clock.sleep(ms, this.#signal)
  }

  #now(): number {
    return ticks(this.#tools.clock)
  }
}
