import type { Change } from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { ApiError } from '../../system/errors.ts'
import { nameSelected } from './field-selector.ts'
import { shared } from './json.ts'
import { type Caller, perform } from './request.ts'
import type { Store } from './store.ts'
import type { Listing } from './store-request.ts'
import { seenAs, selection } from './watch-filter.ts'

export interface Following {
  readonly store: Store
  readonly caller: Caller
  readonly kind: Kind
  readonly where: Listing
}

/** What there is, then `synced`, then every change until the signal. A kind that is not served is waited for. */
export async function* followStore<T extends KubeObject>(
  following: Following,
  signal: AbortSignal,
): AsyncGenerator<Change<T>> {
  const queue = new Queue<Change<T>>(signal)
  const { kinds } = following.store
  let stop = begin(following, queue)
  const stopServing = kinds.onServed((kind) => {
    if (stop === undefined && kind.plural === following.kind.plural) stop = begin(following, queue)
  })
  try {
    for (;;) {
      const next = queue.shift() ?? (await queue.arrival())
      if (next === undefined) return
      yield next
    }
  } finally {
    stop?.()
    stopServing()
  }
}

/** Undefined when it could not begin: the follower has been told that it is lost. */
function begin<T extends KubeObject>(
  { store, caller, kind, where }: Following,
  queue: Queue<Change<T>>,
): (() => void) | undefined {
  const { namespace } = where
  try {
    const resolved = store.kinds.resolve(kind)
    const asked = { kind, namespace, name: nameSelected(where.fields) }
    const page = perform(store, caller, { ...asked, verb: 'list' }, () => store.list(kind, where))
    perform(store, caller, { ...asked, verb: 'watch' }, () => undefined)
    for (const object of page.items) queue.push({ type: 'added', object: shared(object) as T })
    queue.push({ type: 'synced' })
    const matches = selection(resolved, where)
    return store.watch(kind, (event) => {
      const type = seenAs(event, matches)
      if (type) queue.push({ type: changes[type], object: shared(event.object) as T })
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    queue.push({ type: 'lost', why: error.message })
    return undefined
  }
}

const changes = { ADDED: 'added', MODIFIED: 'modified', DELETED: 'deleted' } as const

/** Waiting is a promise that the next push settles: a microtask, no timer. */
class Queue<T> {
  readonly #waiting: T[] = []
  readonly #signal: AbortSignal
  #wake: (() => void) | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  push(item: T): void {
    this.#waiting.push(item)
    this.#wake?.()
  }

  shift(): T | undefined {
    return this.#signal.aborted ? undefined : this.#waiting.shift()
  }

  /** The next item, or undefined when the signal came. */
  async arrival(): Promise<T | undefined> {
    if (this.#signal.aborted) return undefined
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#wake = undefined
        this.#signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#wake = wake
      this.#signal.addEventListener('abort', wake)
    })
    return this.shift()
  }
}
