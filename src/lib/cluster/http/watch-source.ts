import type { Where } from '../cluster.ts'
import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import { overloadOnly } from './backoff.ts'
import { type Chunk, chunk } from './chunk.ts'
import { failureOfStatus } from './failure.ts'
import { lines } from './lines.ts'
import { objectPath, selectors, withQuery } from './object-path.ts'
import { PageCourse } from './pages.ts'
import type { Requests } from './requests.ts'
import { subjectOf } from './subject.ts'
import { untilQuiet } from './until-quiet.ts'

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  object: T
}

/** What `follow` stands on: pages, and a watch that ends sooner or later. Both reject when they fail. */
export interface WatchSource<T extends KubeObject> {
  readonly kind: Kind<T>
  pages(): AsyncIterable<Chunk<T>>
  /** Resolves when the server has accepted the watch. */
  watch(resourceVersion: string): Promise<AsyncIterable<WatchEvent<T>>>
}

interface Watching<T extends KubeObject> {
  kind: Kind<T>
  where: Where
  signal: AbortSignal
}

/** Under the five minutes after which many proxies cut a connection. */
const longestWatch = 290
const spread = 20

export class HttpWatchSource<T extends KubeObject> implements WatchSource<T> {
  readonly kind: Kind<T>
  readonly #requests: Requests
  readonly #watching: Watching<T>
  readonly #random: () => number

  constructor(requests: Requests, watching: Watching<T>, random: () => number) {
    this.kind = watching.kind
    this.#requests = requests
    this.#watching = watching
    this.#random = random
  }

  async *pages(): AsyncGenerator<Chunk<T>> {
    let token: string | undefined
    const { kind, where } = this.#watching
    const course = new PageCourse(where)
    do {
      const page: Chunk<T> = await chunk(this.#requests, { ...this.#watching, patience: overloadOnly }, token)
      const lost = course.astray(page, token)
      if (lost !== undefined)
        throw this.#requests.error(lost, subjectOf('list', kind, { namespace: where.namespace }))
      yield page
      token = page.next
    } while (token !== undefined)
  }

  async watch(resourceVersion: string): Promise<AsyncIterable<WatchEvent<T>>> {
    const { kind, where, signal } = this.#watching
    const seconds = Math.round(longestWatch - this.#random() * spread)
    const path = withQuery(objectPath(kind, { namespace: where.namespace }), {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion,
      timeoutSeconds: String(seconds),
      ...selectors(where),
    })
    const subject = subjectOf('watch', kind, { namespace: where.namespace })
    const { body } = await this.#requests.stream({
      method: 'GET',
      path,
      subject,
      patience: overloadOnly,
      signal,
    })
    return this.#events(untilQuiet(body, seconds * 1000), path)
  }

  async *#events(bytes: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<WatchEvent<T>> {
    const { kind, where } = this.#watching
    const subject = subjectOf('watch', kind, { namespace: where.namespace })
    for await (const line of lines(bytes)) {
      this.#requests.traceLine(path, line)
      const event = JSON.parse(line) as WatchEvent<T> | { type: 'ERROR'; object: { code?: number } }
      if (event.type !== 'ERROR') yield event
      else throw this.#requests.error(failureOfStatus(event.object), subject)
    }
  }
}
