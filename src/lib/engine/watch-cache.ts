import { type Change, type Found, type Reader, readerWith, type Ref, type Where } from '../kube/cluster.ts'
import { type Kind, type KubeObject, resourceOf } from '../kube/object.ts'
import type { Clock } from '../kube/clock.ts'
import type { Followed } from './step.ts'

/** Changes come in bursts: they are looked at together. */
const settleBurst = 150
/** Looking costs requests when the check reads what is not followed: then less often, still within a second. */
const settleCostly = 600
/** Nobody reads it. Without a reason each wait would make a DOMException with a stack. */
const changeCame = new Error('a change came')

interface FollowedReaderOptions {
  live: Reader
  clock: Clock
  remark: (text: string) => void
}

/**
 * Answers `find` and `list` from watches for what a step follows, and from the cluster for everything else or while a watch
 * is not in sync. Streams that the next step follows too go on; `close` ends them all.
 */
export class FollowedReader {
  readonly reader: Reader
  readonly #options: FollowedReaderOptions
  #streams = new Map<string, FollowedStream>()
  #liveReads = 0
  #lookedAt = 0
  #changes = 0
  #wake: () => void = () => undefined

  constructor(options: FollowedReaderOptions) {
    this.#options = options
    this.reader = this.#reading(options.live)
  }

  /** Opens what is missing, closes what is not wanted any more. */
  follow(wanted: readonly Followed[]): void {
    const streams = new Map<string, FollowedStream>()
    for (const followed of wanted) {
      const key = streamKey(followed)
      streams.set(key, this.#streams.get(key) ?? streams.get(key) ?? this.#open(followed))
    }
    for (const [key, stream] of this.#streams) if (!streams.has(key)) stream.close()
    this.#streams = streams
  }

  /** Begins every watch anew: they missed something, and may be dead without a word. */
  reopen(): void {
    const wanted = [...this.#streams.values()].map(({ followed }) => followed)
    this.follow([])
    this.follow(wanted)
  }

  /** Everything that is read from now on is news to be waited for. */
  look(): void {
    this.#lookedAt = this.#changes
    this.#liveReads = 0
  }

  /** Resolves after `ms`, or a moment after the first change since `look`. Rejects with the signal's reason. */
  async changeWithin(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const patience = new AbortController()
    const over = AbortSignal.any([signal, patience.signal])
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve
      if (this.#changes !== this.#lookedAt) resolve()
    })
    const slept = clock.sleep(ms, over).then(() => false)
    const news = await Promise.race([changed.then(() => true), slept])
    patience.abort(changeCame)
    if (news) await clock.sleep(Math.min(ms, this.#liveReads > 0 ? settleCostly : settleBurst), signal)
  }

  close(): void {
    this.follow([])
  }

  #open(followed: Followed): FollowedStream {
    const { live, clock, remark } = this.#options
    const listener = {
      changed: () => {
        this.#changes++
        this.#wake()
      },
      lost: ({ kind }: Followed, why: string) => {
        remark(`watching ${resourceOf(kind)} is not possible for now, they are polled instead: ${why}`)
      },
    }
    return new FollowedStream(followed, { reader: live, clock, listener })
  }

  #reading(live: Reader): Reader {
    const counted = <T>(answer: T): T => {
      this.#liveReads++
      return answer
    }
    return readerWith(live, {
      find: async (kind, ref) => this.#find(kind, ref) ?? counted(live.find(kind, ref)),
      list: async (kind, where = {}) => this.#list(kind, where) ?? counted(live.list(kind, where)),
      pages: (kind, where = {}) => this.#pages(kind, where) ?? counted(live.pages(kind, where)),
      versions: (group) => counted(live.versions(group)),
      version: () => counted(live.version()),
      log: (pod, options) => counted(live.log(pod, options)),
    })
  }

  #find<T extends KubeObject>(kind: Kind<T>, ref: { name: string; namespace?: string | undefined }) {
    for (const stream of this.#streams.values()) {
      if (!stream.synced || !isSame(stream.followed.kind, kind)) continue
      const answer = stream.find(ref)
      if (answer === 'absent') return { is: 'absent' } satisfies Found<T>
      if (answer !== 'unknown') return { is: 'object', object: answer as T } satisfies Found<T>
    }
    return undefined
  }

  #list<T extends KubeObject>(kind: Kind<T>, where: Where): T[] | undefined {
    const stream = this.#streams.get(streamKey({ kind, where }))
    return stream?.synced ? (stream.objects() as T[]) : undefined
  }

  #pages<T extends KubeObject>(kind: Kind<T>, where: Where) {
    const items = this.#list(kind, where)
    return items && onePage(items)
  }
}

async function* onePage<T>(items: readonly T[]) {
  yield { items, resourceVersion: '' }
}

const isSame = (a: Kind, b: Kind): boolean => a.apiVersion === b.apiVersion && a.plural === b.plural

/** What a stream tells those who wait. */
interface StreamListener {
  changed(): void
  /** It may miss changes from now on. Told once per reason. */
  lost(followed: Followed, why: string): void
}

const restartAfter = 1000
const restartAtMost = 30_000

/** The objects of one `follows` line, kept up to date by a watch. Answers only while it is in sync. */
class FollowedStream {
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
function streamKey({ kind, where }: Followed): string {
  return [kind.apiVersion, kind.plural, ...whereKey(where)].join(' ')
}

const whereKey = ({ namespace, name, labels, fields }: Where): string[] =>
  [namespace, name, labels, fields].map((part) => part ?? '*')

const keyOf = ({ namespace, name }: Ref): string => `${namespace ?? ''}/${name}`
