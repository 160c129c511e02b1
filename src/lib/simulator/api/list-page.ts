import type { KubeObject } from '../../cluster/object.ts'
import { badRequest, expiredToken } from './refusal.ts'

export interface PageOf {
  readonly items: readonly KubeObject[]
  readonly resourceVersion: string
  readonly continue?: string
  readonly remaining?: number
}

interface Token {
  rv: number
  start: string
}

/** Lists that somebody is in the middle of, as they were when the first page was read. */
export class ListSnapshots {
  readonly #kept = new Map<number, Map<string, readonly KubeObject[]>>()
  #expired = -1

  /** Continuing any list that began up to that revision is answered with 410. */
  expire(revision: number): void {
    this.#expired = revision
    this.#kept.clear()
  }

  /** `objects` is asked where a list begins, not where one goes on. */
  page(
    list: { id: string; objects: () => readonly KubeObject[]; revision: number },
    limit: number,
    token: string | undefined,
  ): PageOf {
    const from = token === undefined ? undefined : decoded(token)
    const objects = from && from.rv >= 0 ? this.#resumed(list.id, from) : list.objects()
    const revision = from && from.rv >= 0 ? from.rv : list.revision
    const start = from ? firstFrom(objects, from.start) : 0
    const items = limit > 0 ? objects.slice(start, start + limit) : objects.slice(start)
    const next = objects[start + items.length]
    if (next === undefined) return { items, resourceVersion: String(revision) }
    this.#keep(list.id, revision, objects)
    return {
      items,
      resourceVersion: String(revision),
      continue: encoded({ rv: revision, start: place(next) }),
      remaining: objects.length - start - items.length,
    }
  }

  #resumed(id: string, from: Token): readonly KubeObject[] {
    const kept = this.#kept.get(from.rv)?.get(id)
    if (!kept || from.rv <= this.#expired) throw expiredToken(encoded({ rv: -1, start: from.start }))
    return kept
  }

  #keep(id: string, revision: number, objects: readonly KubeObject[]): void {
    const lists = this.#kept.get(revision) ?? new Map<string, readonly KubeObject[]>()
    lists.set(id, objects)
    this.#kept.set(revision, lists)
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > 50 && oldest !== undefined) this.#kept.delete(oldest)
  }
}

/** As etcd has them: by namespace, then name. */
export function inOrder(objects: readonly KubeObject[]): KubeObject[] {
  const placed = objects.map((object) => ({ object, at: place(object) }))
  return placed.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ object }) => object)
}

function place({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

/** They are in order: by halves. */
function firstFrom(objects: readonly KubeObject[], start: string): number {
  let [low, high] = [0, objects.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const object = objects[middle]
    if (object !== undefined && place(object) < start) low = middle + 1
    else high = middle
  }
  return low
}

function encoded(token: Token): string {
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

function decoded(token: string): Token {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString()) as Token
  } catch {
    throw badRequest('continue key is not valid: illegal base64 data')
  }
}
