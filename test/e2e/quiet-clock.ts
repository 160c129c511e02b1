import type { Cluster, Reader, Reviewer, Writer } from '../../src/lib/kube/cluster.ts'
import { SteadyClock } from '../../src/simulator/simulated-clock.ts'
import { type Clock, systemClock } from '../../src/lib/kube/clock.ts'

/**
 * Time for a real API server that is asked to live through hours in minutes: it passes only while no request is under way, so that a
 * slow machine makes nobody late, and `speed` times as fast as the wall.
 */
export class QuietTime {
  #underWay = 0
  #since = systemClock.now().getTime()
  #stood = 0
  readonly clock: Clock

  constructor(speed: number) {
    this.clock = new SteadyClock({ now: () => this.#passed(), sleep: (ms) => systemClock.sleep(ms) }, speed)
  }

  #passed(): Date {
    const now = systemClock.now().getTime()
    return new Date((this.#underWay > 0 ? this.#since : now) - this.#stood)
  }

  async #while<T>(request: () => Promise<T>): Promise<T> {
    if (this.#underWay++ === 0) this.#since = systemClock.now().getTime()
    try {
      return await request()
    } finally {
      if (--this.#underWay === 0) this.#stood += systemClock.now().getTime() - this.#since
    }
  }

  /** The same cluster; its requests stop the clock, what it follows does not. */
  stoppedBy({ reader, writer, reviewer }: Cluster): Cluster {
    const told = reviewer.credentialsEnd?.bind(reviewer)
    return {
      reader: this.#reader(reader),
      writer: this.#writer(writer),
      reviewer: {
        can: (access) => this.#while(() => reviewer.can(access)),
        whoAmI: () => this.#while(() => reviewer.whoAmI()),
        ...(told && { credentialsEnd: told }),
        dryRun: this.#writer(reviewer.dryRun),
      } satisfies Reviewer,
    }
  }

  #reader(reader: Reader): Reader {
    return {
      get: (kind, ref) => this.#while(() => reader.get(kind, ref)),
      list: (kind, where) => this.#while(() => reader.list(kind, where)),
      pages: (kind, where) => this.#each(reader.pages(kind, where)),
      watch: (kind, where, signal) => reader.watch(kind, where, signal),
      versions: (group) => this.#while(() => reader.versions(group)),
      version: () => this.#while(() => reader.version()),
      log: (pod, options) => this.#while(() => reader.log(pod, options)),
    }
  }

  async *#each<T>(pages: AsyncIterable<T>): AsyncGenerator<T> {
    const source = pages[Symbol.asyncIterator]()
    for (;;) {
      const next = await this.#while(() => source.next())
      if (next.done) return
      yield next.value
    }
  }

  #writer(writer: Writer): Writer {
    return {
      create: (kind, object) => this.#while(() => writer.create(kind, object)),
      mergePatch: (kind, ref, change, on) => this.#while(() => writer.mergePatch(kind, ref, change, on)),
      jsonPatch: (kind, ref, operations, on) =>
        this.#while(() => writer.jsonPatch(kind, ref, operations, on)),
      apply: (kind, object, options) => this.#while(() => writer.apply(kind, object, options)),
      delete: (kind, ref, only) => this.#while(() => writer.delete(kind, ref, only)),
      subresource: (kind, ref, call) => this.#while(() => writer.subresource(kind, ref, call)),
    }
  }
}
