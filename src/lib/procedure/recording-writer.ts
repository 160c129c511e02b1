import { without } from '../cluster/apply/applied.ts'
import { leftovers } from '../cluster/apply/leftovers.ts'
import type { Found, Reader, Ref, Writer } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import { readerWith } from '../cluster/reader-with.ts'
import { type FieldChange, sameLeaf } from '../cluster/leaves.ts'
import type { KubeObject } from '../cluster/object.ts'
import { changedFields, namedIn, type RehearsedChange } from './rehearsed-change.ts'
import type { Asked, Rehearsing } from './rehearsing-writer.ts'

/** One object in the rehearsal of a step. */
interface Seen {
  live: KubeObject | undefined
  /** As it would be after the writes so far. */
  now: KubeObject | undefined
  change: RehearsedChange
}

/** Whom the writes are made by, and how. */
interface Act {
  kind: Kind
  ref: Ref
  verbs: readonly string[]
  /** The status was written, not the rest. */
  on?: 'status' | undefined
}

/** What the writes of one step would change, and a reader that shows them to the step: nothing of it is kept. */
export class Recording {
  readonly writer: Writer
  readonly reader: Reader
  readonly #live: Reader
  readonly #seen = new Map<string, Seen>()
  readonly #calls: RehearsedChange[] = []
  #rehearsing: Rehearsing

  constructor(live: Reader, rehearsing: (reader: Reader) => Rehearsing) {
    this.#live = live
    this.reader = this.#reading()
    this.writer = this.#writing()
    this.#rehearsing = rehearsing(this.reader)
  }

  /** In the order of the first write of each; a write that would change nothing is none. */
  get changes(): readonly RehearsedChange[] {
    const changed = [...this.#seen.values()].map(({ change }) => change)
    return [...changed.filter(({ is, fields }) => is !== 'changed' || fields.length > 0), ...this.#calls]
  }

  #reading(): Reader {
    const live = this.#live
    return readerWith(live, {
      find: async <T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> => {
        const seen = this.#seen.get(key(kind, ref))
        if (seen === undefined) return live.find(kind, ref)
        return seen.now === undefined
          ? { is: 'absent' }
          : { is: 'object', object: structuredClone(seen.now) as T }
      },
    })
  }

  #writing(): Writer {
    return {
      create: (kind, object) =>
        this.#write({ kind, ref: object.metadata, verbs: ['create'] }, (writer) =>
          writer.create(kind, object),
        ),
      mergePatch: (kind, ref, change, on) =>
        this.#write({ kind, ref, verbs: ['patch'], on }, (writer) =>
          writer.mergePatch(kind, ref, change, on),
        ),
      jsonPatch: (kind, ref, operations, on) =>
        this.#write({ kind, ref, verbs: ['patch'], on }, (writer) =>
          writer.jsonPatch(kind, ref, operations, on),
        ),
      apply: async (kind, object, options) => {
        const ref = object.metadata
        const before = this.#seen.get(key(kind, ref))?.now
        const act = { kind, ref, verbs: ['patch', 'create'] }
        return this.#write(act, async (writer) =>
          withoutLeftovers(await writer.apply(kind, object, options), object, before),
        )
      },
      delete: async (kind, ref, only) => {
        const asked = { kind, ref, verbs: ['delete'] }
        const { by } = await this.#rehearsing(asked, (writer) => writer.delete(kind, ref, only))
        const change = { object: namedIn(kind, ref), is: 'deleted', fields: [], by } as const
        this.#seen.set(key(kind, ref), { live: undefined, now: undefined, change })
      },
      subresource: async (kind, ref, call) => {
        const asked: Asked = { kind, ref, verbs: [verbOf(call.method)], subresource: call.name }
        const { answer, by } = await this.#rehearsing(asked, (writer) => writer.subresource(kind, ref, call))
        this.#calls.push({ object: namedIn(kind, ref), is: 'called', fields: [], by, call: call.name })
        return answer
      },
    }
  }

  async #write<T extends KubeObject>(act: Act, write: (writer: Writer) => Promise<T>): Promise<T> {
    const { kind, ref, on } = act
    const before = this.#seen.get(key(kind, ref))
    const live = before ? before.live : await this.#find(kind, ref)
    const { answer, by } = await this.#rehearsing(act, write)
    const from = by === 'server' ? live : (before?.now ?? live)
    const fields = joined(before?.change.fields ?? [], changedFields(from, answer, on === 'status'))
    const change: RehearsedChange = {
      object: namedIn(kind, ref),
      is: live === undefined ? 'created' : 'changed',
      fields,
      by: before?.change.by === 'client' ? 'client' : by,
    }
    this.#seen.set(key(kind, ref), { live, now: stillAt(answer, live), change })
    return answer
  }

  async #find(kind: Kind, ref: Ref): Promise<KubeObject | undefined> {
    const found = await this.#live.find(kind, ref)
    return found.is === 'object' ? found.object : undefined
  }
}

const key = ({ apiVersion, kind }: Kind, { namespace = '', name }: Ref): string =>
  `${apiVersion} ${kind} ${namespace}/${name}`

const verbOf = (method: 'PUT' | 'POST'): string => (method === 'PUT' ? 'update' : 'create')

/** The server knows of no takeover that it was asked for as a dry run, and leaves what goes for it. */
function withoutLeftovers<T extends KubeObject>(answer: T, wanted: T, before: KubeObject | undefined): T {
  return before === undefined ? answer : without(answer, leftovers(wanted, before))
}

/**
 * What is not kept gets no new resourceVersion, and no new owners: what kubectl applied client-side owns the server's defaults as well, and
 * after a takeover they would look like leftovers.
 */
function stillAt<T extends KubeObject>(object: T, live: KubeObject | undefined): T {
  if (live === undefined) return object
  const { resourceVersion, managedFields } = live.metadata
  const metadata = {
    ...object.metadata,
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(managedFields !== undefined && { managedFields }),
  }
  return { ...object, metadata }
}

/** What two writes after each other make of a field: the first `from`, the last `to`. */
function joined(first: readonly FieldChange[], second: readonly FieldChange[]): FieldChange[] {
  const changes = new Map(first.map((change) => [change.path, change]))
  for (const change of second) {
    const { from } = changes.get(change.path) ?? change
    const { path, to } = change
    changes.set(path, { path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
  }
  return [...changes.values()].filter(({ from, to }) => !sameLeaf(from, to))
}
