import type { Found, Reader, Where } from '../cluster/cluster.ts'
import { type Kind, resourceOf } from '../cluster/kind.ts'
import { readerWith } from '../cluster/reader-with.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Clock } from '../system/clock.ts'
import { FollowedStream, streamKey } from './followed-stream.ts'
import type { Followed } from './step.ts'

/** Changes come in bursts: they are looked at together. */
const settleBurst = 150
/** Looking costs requests when the check reads what is not followed: then less often, still within a second. */
const settleCostly = 600
/** Nobody reads it. Without a reason each wait would make a DOMException with a stack. */
const changeCame = new Error('a change came')

export interface FollowedReaderOptions {
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
