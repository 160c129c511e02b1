import type { Change } from '../cluster.ts'
import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'

interface Entry {
  uid: string
  resourceVersion: string
  /** The pass over the whole list in which it was seen last. */
  pass: number
}

type Told<T> = Extract<Change<T>, { object: T }>

/** What was told of each object: enough to tell a change from a repetition, and not the objects themselves. */
export class Known<T extends KubeObject> {
  readonly #kind: Kind<T>
  readonly #entries = new Map<string, Entry>()
  #pass = 0

  constructor(kind: Kind<T>) {
    this.#kind = kind
  }

  /** A list begins: whatever `seen` does not name until `missing` is gone. */
  beginPass(): void {
    this.#pass++
  }

  /** An object that is there: new, changed, replaced by one of the same name, or nothing new. */
  *seen(object: T): Generator<Told<T>> {
    const { uid = '', resourceVersion = '' } = object.metadata
    const key = keyOf(object)
    const before = this.#entries.get(key)
    this.#entries.set(key, { uid, resourceVersion, pass: this.#pass })
    if (before !== undefined && before.uid !== uid)
      yield { type: 'deleted', object: this.#trace(key, before) }
    if (before?.uid !== uid) yield { type: 'added', object }
    else if (before.resourceVersion !== resourceVersion || resourceVersion === '')
      yield { type: 'modified', object }
  }

  *gone(object: T): Generator<Told<T>> {
    const key = keyOf(object)
    const before = this.#entries.get(key)
    if (before === undefined || (object.metadata.uid !== undefined && before.uid !== object.metadata.uid))
      return
    this.#entries.delete(key)
    yield { type: 'deleted', object }
  }

  /** After a whole list: what it no longer names, with its identity only. */
  *missing(): Generator<Told<T>> {
    for (const [key, entry] of this.#entries) {
      if (entry.pass === this.#pass) continue
      this.#entries.delete(key)
      yield { type: 'deleted', object: this.#trace(key, entry) }
    }
  }

  #trace(key: string, { uid, resourceVersion }: Entry): T {
    const [namespace = '', name = ''] = key.split('/')
    const metadata = { name, ...(namespace !== '' && { namespace }), uid, resourceVersion }
    const { apiVersion, kind } = this.#kind
    return { apiVersion, kind, metadata } as T
  }
}

function keyOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`
}
