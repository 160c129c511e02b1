import type { ApplyOptions, JsonOperation, Precondition, Ref, Writer } from '../cluster.ts'
import type { DeepPartial } from '../cluster.ts'
import { groupOf, type Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import { carefulWrites } from './backoff.ts'
import { objectPath, type Query, withQuery } from './object-path.ts'
import { rehearsableBody } from './rehearsable-body.ts'
import type { Call, Requests } from './requests.ts'
import { isObject, isSuccess, unlike } from './shape.ts'
import { subjectOf } from './subject.ts'

const fieldManager = 'kvup'
/** ms. Whoever guards a write has looked just before it; past this it has to be decided, and guarded, anew. */
const freshFor = 10_000
type What = Pick<Call, 'method' | 'body' | 'contentType'> & {
  verb: string
  query?: Query
  subresource?: string | undefined
}

/** Writes over HTTP; with `rehearsal` the server validates and admits every write, and keeps none. */
export class HttpWriter implements Writer {
  readonly #requests: Requests
  readonly #rehearsal: boolean

  constructor(requests: Requests, { rehearsal = false } = {}) {
    this.#requests = requests
    this.#rehearsal = rehearsal
  }

  create<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T> {
    const { namespace } = object.metadata
    return this.#write(kind, { name: '', namespace }, { verb: 'create', method: 'POST', body: object })
  }

  mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: Ref,
    change: DeepPartial<T>,
    on?: 'status',
  ): Promise<T> {
    return this.#patch(kind, ref, {
      body: change,
      contentType: 'application/merge-patch+json',
      subresource: on,
    })
  }

  jsonPatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: Ref,
    operations: readonly JsonOperation[],
    on?: 'status',
  ): Promise<T> {
    return this.#patch(kind, ref, {
      body: operations,
      contentType: 'application/json-patch+json',
      subresource: on,
    })
  }

  apply<T extends KubeObject>(kind: Kind<T>, object: T, { force, manager }: ApplyOptions = {}): Promise<T> {
    const { managedFields: _, ...metadata } = object.metadata
    return this.#patch(kind, object.metadata, {
      body: { ...object, apiVersion: kind.apiVersion, kind: kind.kind, metadata },
      // JSON is YAML, and the server knows server-side apply by this name
      contentType: 'application/apply-patch+yaml',
      query: { fieldManager: manager ?? fieldManager, force: force === true ? 'true' : undefined },
    })
  }

  async delete(kind: Kind, ref: Ref, { uid, resourceVersion }: Precondition = {}): Promise<void> {
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      ...(Object.keys(preconditions).length > 0 && { preconditions }),
      // With a body the server ignores `?dryRun=All` and really deletes.
      ...(this.#rehearsal && { dryRun: ['All'] }),
    }
    const answer = await this.#send<unknown>(kind, ref, {
      verb: 'delete',
      method: 'DELETE',
      body,
      query: { fieldManager: undefined },
    })
    if (isObject(answer) || isSuccess(answer)) return
    throw this.#requests.error(unlike('that of a delete', answer), subjectOf('delete', kind, ref))
  }

  async subresource(
    kind: Kind,
    ref: Ref,
    { name, method, body }: { name: string; method: 'PUT' | 'POST'; body: object },
  ): Promise<unknown> {
    return this.#send<unknown>(kind, ref, {
      verb: method === 'PUT' ? 'update' : 'create',
      method,
      body: this.#rehearsal ? rehearsableBody(groupOf(kind), name, body) : body,
      subresource: name,
    })
  }

  #patch<T>(kind: Kind, ref: Ref, what: Omit<What, 'verb' | 'method'>): Promise<T> {
    return this.#write<T>(kind, ref, { ...what, verb: 'patch', method: 'PATCH' })
  }

  /** A write is done when the server shows what it has now. */
  async #write<T>(kind: Kind, ref: Ref, what: What): Promise<T> {
    const answer = await this.#send<T>(kind, ref, what)
    if (isObject(answer)) return answer
    throw this.#requests.error(unlike(`the ${kind.kind}`, answer), subjectOf(what.verb, kind, ref))
  }

  #send<T>(kind: Kind, ref: Ref, { verb, method, body, contentType, query, subresource }: What): Promise<T> {
    const all = { fieldManager, ...query, dryRun: this.#rehearsal ? 'All' : undefined }
    return this.#requests.json<T>({
      method,
      path: withQuery(objectPath(kind, ref, subresource), all),
      subject: subjectOf(verb, kind, ref, subresource),
      patience: carefulWrites,
      freshFor,
      body,
      ...(contentType !== undefined && { contentType }),
    })
  }
}
