import type { Change, Reader, Ref, Where } from '../cluster/cluster.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Clock } from '../system/clock.ts'
import type { Followed } from './step.ts'

/** What a stream tells those who wait. */
export interface StreamListener {
  changed(): void
  /** It may miss changes from now on. Told once per reason. */
  lost(followed: Followed, why: string): void
}

const restartAfter = 1000
const restartAtMost = 30_000

/** The objects of one `follows` line, kept up to date by a watch. Answers only while it is in sync. */
export class FollowedStream {
  readonly followed: Followed
  readonly #source: { reader: Reader; clock: Clock; listener: StreamListener }
  readonly #stop = new AbortController()
  readonly #objects = new Map<string, KubeObject>()
  #synced = false
  #broken = 0
  #why: string | undefined

  constructor(followed: Followed, source: { reader: Reader; clock: Clock; listener: StreamListener }) {
    this.followed = followed
    this.#source = source
    void this.#run()
  }

  get synced(): boolean {
    return this.#synced
  }

  objects(): KubeObject[] {
    return [...this.#objects.values()]
  }

  /** `unknown` where the stream would not have shown the object in any case. */
  find(ref: Ref): KubeObject | 'absent' | 'unknown' {
    const { where } = this.followed
    if (where.namespace !== undefined && where.namespace !== ref.namespace) return 'unknown'
    const object = this.#objects.get(keyOf(ref))
    if (object !== undefined) return object
    const all = where.labels === undefined && where.fields === undefined
    return all && (where.name === undefined || where.name === ref.name) ? 'absent' : 'unknown'
  }

  close(): void {
    this.#stop.abort()
  }

  /** A stream that ends by itself is begun anew, with a pause that grows while nothing comes of it. */
  async #run(): Promise<void> {
    const { clock } = this.#source
    const { signal } = this.#stop
    while (!signal.aborted) {
      this.#objects.clear()
      await this.#stream(signal)
      const pause = Math.min(restartAfter * 2 ** this.#broken++, restartAtMost)
      await clock.sleep(pause, signal).catch(() => undefined)
    }
  }

  async #stream(signal: AbortSignal): Promise<void> {
    const { kind, where } = this.followed
    try {
      for await (const change of this.#source.reader.follow(kind, where, signal)) {
        if (signal.aborted) return
        this.#take(change)
      }
      this.#lose('the watch ended')
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error))
    }
  }

  #take(change: Change<KubeObject>): void {
    switch (change.type) {
      case 'lost':
        this.#lose(change.why)
        return
      case 'synced':
        this.#synced = true
        this.#broken = 0
        this.#why = undefined
        break
      case 'deleted':
        this.#objects.delete(keyOf(change.object.metadata))
        break
      case 'added':
      case 'modified':
        this.#objects.set(keyOf(change.object.metadata), change.object)
        break
    }
    if (this.#synced) this.#source.listener.changed()
  }

  #lose(why: string): void {
    this.#synced = false
    if (this.#stop.signal.aborted) return
    if (this.#why !== why) this.#source.listener.lost(this.followed, why)
    this.#why = why
    this.#source.listener.changed()
  }
}

/** Two lines that follow the same objects share a stream. */
export function streamKey({ kind, where }: Followed): string {
  return [kind.apiVersion, kind.plural, ...whereKey(where)].join(' ')
}

const whereKey = ({ namespace, name, labels, fields }: Where): string[] =>
  [namespace, name, labels, fields].map((part) => part ?? '*')

const keyOf = ({ namespace, name }: Ref): string => `${namespace ?? ''}/${name}`
