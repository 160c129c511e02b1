import { ApiError } from '../../system/errors.ts'
import type { Change, Found, Page, Reader, Ref, ServerVersion, Where } from '../cluster.ts'
import { groupOf, type Kind, resourceOf } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import { NotSavedError } from './not-saved.ts'
import type { SavedObjects } from './saved-objects.ts'
import { covers, type Question, questionOf, type SnapshotIndex, type Unread } from './snapshot-index.ts'

/** What was read from files. */
export interface Saved {
  /** For messages. */
  file: string
  objects: SavedObjects
  /** Undefined for what `kubectl get` printed. */
  index: SnapshotIndex | undefined
  /** Kinds that a list without items was of: there are none. */
  empty: readonly { apiVersion: string; kind: string }[]
}

/**
 * Answers from saved objects. What was refused when they were saved is refused with the same words; what they do not hold is a
 * NotSavedError, never "there are none".
 */
export class SavedReader implements Reader {
  readonly #saved: Saved

  constructor(saved: Saved) {
    this.#saved = saved
  }

  async find<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> {
    const { name, namespace } = ref
    const unread = this.#answer(kind, ref)
    if (unread?.code === 404) return { is: 'unserved' }
    if (unread !== undefined) throw errorOf(unread)
    const [object] = this.#saved.objects.select(kind, { name, ...(kind.namespaced && { namespace }) })
    return object ? { is: 'object', object } : { is: 'absent' }
  }

  async list<T extends KubeObject>(kind: Kind<T>, where: Where = {}): Promise<T[]> {
    const unread = this.#answer(kind, where)
    if (unread !== undefined) throw errorOf(unread)
    return this.#saved.objects.select(kind, where)
  }

  async *pages<T extends KubeObject>(kind: Kind<T>, where?: Where): AsyncGenerator<Page<T>> {
    yield { items: await this.list(kind, where), resourceVersion: '' }
  }

  /** Nothing changes any more. */
  async *follow<T extends KubeObject>(
    kind: Kind<T>,
    where: Where,
    signal: AbortSignal,
  ): AsyncGenerator<Change<T>> {
    for (const object of await this.list(kind, where)) yield { type: 'added', object }
    yield { type: 'synced' }
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  }

  async versions(group: string): Promise<readonly string[]> {
    return this.#saved.index?.groups[group] ?? this.#saved.objects.versions(group)
  }

  async version(): Promise<ServerVersion> {
    const version = this.#saved.index?.serverVersion
    if (version === undefined) throw new NotSavedError('the version of the API server', this.#saved.file)
    return version
  }

  async log({ name }: Ref): Promise<string> {
    throw new NotSavedError(`the log of pod ${name}`, this.#saved.file)
  }

  /** Undefined where the objects answer it; why not, where the cluster said so. Throws NotSavedError. */
  #answer(kind: Kind, where: Where): Unread | undefined {
    const asked = questionOf(kind, where)
    const { index, objects, empty } = this.#saved
    const held = index ? index.read.some((question) => covers(question, asked)) : objects.has(asked)
    if (held || empty.some((one) => one.apiVersion === asked.apiVersion && one.kind === asked.kind))
      return this.#inOtherVersion(asked)
    const unread = index?.unread.find((question) => covers(question, asked))
    if (unread !== undefined) return unread
    throw new NotSavedError(inWords(kind, where), this.#saved.file)
  }

  /** What kubectl printed is of one version: asked for in another one, the next may be tried. */
  #inOtherVersion(asked: Question): Unread | undefined {
    const { index, objects, empty } = this.#saved
    const versions = index || empty.length > 0 ? [] : objects.versions(groupOf(asked))
    const version = asked.apiVersion.slice(asked.apiVersion.indexOf('/') + 1)
    if (versions.length === 0 || versions.includes(version)) return undefined
    return {
      ...asked,
      code: 404,
      reason: 'Unserved',
      why: `${this.#saved.file} has ${versions.join(', ')} of it`,
    }
  }
}

const errorOf = ({ code, reason, why }: Unread): ApiError => new ApiError(code, reason, why)

function inWords(kind: Kind, { namespace, name }: Where): string {
  const what = name === undefined ? resourceOf(kind) : `${resourceOf(kind)} ${name}`
  return namespace === undefined ? what : `${what} in namespace ${namespace}`
}
