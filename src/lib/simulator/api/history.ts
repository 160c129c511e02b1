import type { KubeObject } from '../../cluster/object.ts'
import { tooOld } from './refusal.ts'

/** One change of one object. `before` is what it was, for watchers whose selector it leaves. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly resource: string
  readonly object: KubeObject
  readonly before: KubeObject | undefined
  readonly revision: number
}

type Listener = (event: StoreEvent) => void

/** The last changes of each resource, for watches that resume, and who listens now. */
export class History {
  readonly #rings = new Map<string, StoreEvent[]>()
  readonly #forgotten = new Map<string, number>()
  readonly #listeners = new Set<Listener>()
  readonly #limit: number
  #compacted = 0

  constructor(limit = 2048) {
    this.#limit = limit
  }

  record(event: StoreEvent): void {
    const ring = this.#rings.get(event.resource) ?? []
    this.#rings.set(event.resource, ring)
    ring.push(event)
    const gone = ring.length > this.#limit ? ring.shift() : undefined
    if (gone) this.#forgotten.set(event.resource, gone.revision)
    for (const listener of this.#listeners) listener(event)
  }

  /** What happened after that revision. Throws 410 when that is no longer known. */
  since(resource: string, revision: number): readonly StoreEvent[] {
    const oldest = Math.max(this.#forgotten.get(resource) ?? 0, this.#compacted)
    if (revision < oldest) throw tooOld(revision, oldest)
    return (this.#rings.get(resource) ?? []).filter((e) => e.revision > revision)
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Forgets everything up to that revision: whoever resumes from there gets 410. */
  compact(revision: number): void {
    this.#compacted = revision
    this.#rings.clear()
  }
}
