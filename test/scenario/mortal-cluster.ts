import type { Cluster, Reader, Reviewer, Where, Writer } from '../../src/lib/kube/cluster.ts'
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

/** Told around every call: which one it is, and whether it is about to be made or was answered. */
type Watcher = (death: Death) => void

/** A cluster whose client dies at its n-th call. Every later call dies as well, and what it follows ends. */
export function mortal(cluster: Cluster, death: Death, watch: Watcher = () => undefined): Mortal {
  const life = new ControllerManager(death, watch)
  return {
    reader: mortalReader(cluster.reader, life),
    writer: mortalWriter(cluster.writer, life),
    reviewer: mortalReviewer(cluster.reviewer, life),
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

  async call<T>(act: () => Promise<T>): Promise<T> {
    const number = this.#count()
    if ('beforeCall' in this.#death && number >= this.#death.beforeCall) this.#die()
    this.#watch({ beforeCall: number })
    try {
      return await act()
    } finally {
      this.#watch({ afterCall: number })
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

function mortalReader(reader: Reader, life: ControllerManager): Reader {
  return {
    get: (kind, ref) => life.call(() => reader.get(kind, ref)),
    list: (kind, where) => life.call(() => reader.list(kind, where)),
    async *pages<T extends KubeObject>(kind: Kind<T>, where?: Where) {
      const pages = reader.pages(kind, where)[Symbol.asyncIterator]()
      for (;;) {
        const page = await life.call(() => pages.next())
        if (page.done === true) return
        yield page.value
      }
    },
    async *watch<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal) {
      await life.call(() => Promise.resolve())
      yield* reader.watch(kind, where, AbortSignal.any([signal, life.over.signal]))
      life.over.signal.throwIfAborted()
    },
    versions: (group) => life.call(() => reader.versions(group)),
    version: () => life.call(() => reader.version()),
    log: (pod, options) => life.call(() => reader.log(pod, options)),
    askService: (call) => life.call(async () => (await reader.askService?.(call)) ?? ''),
  }
}

function mortalWriter(writer: Writer, life: ControllerManager): Writer {
  return {
    create: (kind, object) => life.call(() => writer.create(kind, object)),
    mergePatch: (kind, ref, change, on) => life.call(() => writer.mergePatch(kind, ref, change, on)),
    jsonPatch: (kind, ref, operations, on) => life.call(() => writer.jsonPatch(kind, ref, operations, on)),
    apply: (kind, object, options) => life.call(() => writer.apply(kind, object, options)),
    delete: (kind, ref, only) => life.call(() => writer.delete(kind, ref, only)),
    subresource: (kind, ref, call) => life.call(() => writer.subresource(kind, ref, call)),
  }
}

function mortalReviewer(reviewer: Reviewer, life: ControllerManager): Reviewer {
  return {
    can: (access) => life.call(() => reviewer.can(access)),
    whoAmI: () => life.call(() => reviewer.whoAmI()),
    dryRun: mortalWriter(reviewer.dryRun, life),
  }
}
