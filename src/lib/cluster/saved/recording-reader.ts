import { ApiError } from '../../system/errors.ts'
import type {
  Access,
  Change,
  Found,
  LogOptions,
  Page,
  Reader,
  Ref,
  Reviewer,
  ServerVersion,
  Where,
} from '../cluster.ts'
import { type Kind, wholeOf } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import { type Question, questionOf, type SnapshotIndex, type Unread } from './snapshot-index.ts'
import { trimmed } from './trimmed.ts'

type Recorded = Pick<SnapshotIndex, 'read' | 'unread' | 'groups' | 'rights' | 'serverVersion'>

/**
 * Answers like the Reader and the Reviewer behind it, and keeps what they said: a snapshot holds all that a judgement asked for
 * because the judgement itself asked, and of that the whole objects. Secrets are never kept.
 */
export class RecordingReader implements Reader {
  readonly #reader: Reader
  readonly #objects = new Map<string, KubeObject>()
  readonly #read = new Map<string, Question>()
  readonly #unread = new Map<string, Unread>()
  readonly #groups = new Map<string, readonly string[]>()
  readonly #rights = new Map<string, { access: Access; allowed: boolean }>()
  #version: ServerVersion | undefined

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** In the order of kind, namespace and name. */
  objects(): KubeObject[] {
    return inOrder(this.#objects)
  }

  /** In an order that does not tell which answer came first: of the same cluster it is the same. */
  recorded(): Recorded {
    return {
      read: inOrder(this.#read),
      unread: inOrder(this.#unread),
      groups: Object.fromEntries([...this.#groups].toSorted(byKey)),
      rights: inOrder(this.#rights),
      ...(this.#version && { serverVersion: this.#version }),
    }
  }

  async find<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> {
    const question = questionOf(kind, ref)
    const found = await this.#asked(question, this.#reader.find(kind, ref))
    if (found.is === 'unserved') this.#refused(question, { status: 404, statusReason: 'Unserved' })
    else this.#answered(question)
    if (found.is === 'object') this.#keep(found.object)
    return found
  }

  async list<T extends KubeObject>(kind: Kind<T>, where: Where = {}): Promise<T[]> {
    const all: T[] = []
    for await (const { items } of this.pages(kind, where)) for (const item of items) all.push(item)
    return all
  }

  async *pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}): AsyncGenerator<Page<T>> {
    const question = questionOf(kind, where)
    try {
      for await (const page of this.#reader.pages(wholeOf(kind), where)) {
        for (const item of page.items) this.#keep(item)
        yield page
      }
    } catch (error) {
      this.#failed(question, error)
      throw error
    }
    this.#answered(question)
  }

  follow<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal): AsyncIterable<Change<T>> {
    return this.#reader.follow(kind, where, signal)
  }

  async versions(group: string): Promise<readonly string[]> {
    const versions = await this.#reader.versions(group)
    this.#groups.set(group, versions)
    return versions
  }

  async version(): Promise<ServerVersion> {
    return (this.#version = await this.#reader.version())
  }

  async log(pod: Ref, options?: LogOptions): Promise<string> {
    return this.#reader.log(pod, options)
  }

  /** The same for questions about rights. */
  reviewing(reviewer: Reviewer): Pick<Reviewer, 'can'> {
    return {
      can: async (access) => {
        const answer = await reviewer.can(access)
        this.#rights.set(JSON.stringify(access), { access, allowed: answer.allowed })
        return answer
      },
    }
  }

  #keep(object: KubeObject): void {
    const kept = trimmed(object)
    if (kept === undefined) return
    const { namespace = '', name } = object.metadata
    this.#objects.set(`${object.kind} ${object.apiVersion} ${namespace}/${name}`, kept)
  }

  async #asked<T>(question: Question, answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      this.#failed(question, error)
      throw error
    }
  }

  #answered(question: Question): void {
    this.#read.set(JSON.stringify(question), question)
  }

  #failed(question: Question, error: unknown): void {
    if (error instanceof ApiError) this.#refused(question, error)
  }

  #refused(
    question: Question,
    { status, statusReason, message = '' }: Pick<ApiError, 'status' | 'statusReason'> & { message?: string },
  ): void {
    const unread = { ...question, code: status, reason: statusReason, why: message }
    this.#unread.set(JSON.stringify(question), unread)
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

function inOrder<T>(found: ReadonlyMap<string, T>): T[] {
  return [...found].toSorted(byKey).map(([, one]) => one)
}
