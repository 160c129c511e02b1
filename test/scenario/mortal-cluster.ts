import type { Cluster, Reader, Where } from '../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'

/** Thrown in place of an answer: the process is gone. Nothing in kvup may catch it and go on. */
export class Killed extends Error {
  override readonly name = 'Killed'
}

/** Which call is the last: the server acts on it and nobody hears the answer, or it never gets there. */
export type Death = { afterCall: number } | { beforeCall: number } | { afterCallWhen: () => boolean }

export interface Mortal extends Cluster {
  /** Calls so far, over reader, writer and reviewer. */
  readonly calls: () => number
  readonly dead: () => boolean
  /** Resolves at the moment of its death. */
  readonly death: Promise<void>
}

/** Told around every call: which one it is, whether it is about to be made or was answered, and of which kind it is. */
type Watcher = (death: Death, call: 'read' | 'write') => void

const writes: ReadonlySet<string> = new Set([
  'create',
  'mergePatch',
  'jsonPatch',
  'apply',
  'delete',
  'subresource',
])

/** A cluster whose client dies at its n-th call. Every later call dies as well, and what it follows ends. */
export function mortal(cluster: Cluster, death: Death, watch: Watcher = () => undefined): Mortal {
  const life = new ControllerManager(death, watch)
  return {
    reader: mortalReader(cluster.reader, life),
    writer: mortalPart(cluster.writer, life),
    reviewer: mortalPart(cluster.reviewer, life, { dryRun: mortalPart(cluster.reviewer.dryRun, life) }),
    calls: () => life.calls,
    dead: () => life.over.signal.aborted,
    death: new Promise((resolve) => {
      life.over.signal.addEventListener('abort', () => resolve(), { once: true })
    }),
  }
}

/** Never dies; tells how many calls a whole run makes. */
export const immortal = (cluster: Cluster, watch?: Watcher): Mortal =>
  mortal(cluster, { afterCall: Infinity }, watch)

class ControllerManager {
  calls = 0
  readonly over = new AbortController()
  readonly #death: Death
  readonly #watch: Watcher

  constructor(death: Death, watch: Watcher) {
    this.#death = death
    this.#watch = watch
  }

  async call<T>(what: string, act: () => Promise<T>): Promise<T> {
    const number = this.#count()
    const kind = writes.has(what) ? 'write' : 'read'
    if ('beforeCall' in this.#death && number >= this.#death.beforeCall) this.#die()
    this.#watch({ beforeCall: number }, kind)
    try {
      return await act()
    } finally {
      this.#watch({ afterCall: number }, kind)
      if ('afterCall' in this.#death && number >= this.#death.afterCall) this.#die()
      if ('afterCallWhen' in this.#death && this.#death.afterCallWhen()) this.#die()
      if (this.over.signal.aborted) this.#die()
    }
  }

  #count(): number {
    if (this.over.signal.aborted) this.#die()
    return ++this.calls
  }

  #die(): never {
    const killed = new Killed(`killed at call ${this.calls}`)
    this.over.abort(killed)
    throw killed
  }
}

/** Each method is a call, but for those that are made here. */
function mortalPart<T extends object>(part: T, life: ControllerManager, own: Partial<T> = {}): T {
  return new Proxy(part, {
    get(_, name) {
      const method: unknown = Reflect.get(own, name) ?? Reflect.get(part, name)
      if (name in own || typeof method !== 'function') return method
      return (...args: unknown[]) => life.call(String(name), () => Reflect.apply(method, part, args))
    },
  })
}

function mortalReader(reader: Reader, life: ControllerManager): Reader {
  return mortalPart<Reader>(reader, life, {
    async *pages<T extends KubeObject>(kind: Kind<T>, where?: Where) {
      const pages = reader.pages(kind, where)[Symbol.asyncIterator]()
      for (;;) {
        const page = await life.call('pages', () => pages.next())
        if (page.done === true) return
        yield page.value
      }
    },
    async *watch<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal) {
      await life.call('watch', () => Promise.resolve())
      yield* reader.watch(kind, where, AbortSignal.any([signal, life.over.signal]))
      life.over.signal.throwIfAborted()
    },
    askService: (call) => life.call('askService', async () => (await reader.askService?.(call)) ?? ''),
  })
}
