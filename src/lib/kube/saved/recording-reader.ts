import { ApiError } from '../errors.ts'
import {
  type Access,
  everyItem,
  type Page,
  type Reader,
  type Reviewer,
  type ServerVersion,
  type Where,
} from '../cluster.ts'
import {
  isRecord,
  type Kind,
  type KubeObject,
  type Metadata,
  parseJson,
  wholeOf,
  withoutKeys,
  lastApplied,
} from '../object.ts'
import { type Question, questionOf, type SnapshotIndex, type Unread } from './saved-cluster.ts'
import { withoutSecrets } from './redact-snapshot.ts'
import rows from './kept-fields.json' with { type: 'json' }

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
  recorded(): Pick<SnapshotIndex, 'read' | 'unread' | 'groups' | 'rights' | 'serverVersion'> {
    return {
      read: inOrder(this.#read),
      unread: inOrder(this.#unread),
      groups: Object.fromEntries([...this.#groups].toSorted(byKey)),
      rights: inOrder(this.#rights),
      ...(this.#version && { serverVersion: this.#version }),
    }
  }

  readonly get: Reader['get'] = async (kind, ref) => {
    const question = questionOf(kind, ref)
    const found = await this.#reader.get(kind, ref).catch((error: unknown) => this.#failed(question, error))
    if (found.is === 'unserved') this.#refused(question, { status: 404, statusReason: 'Unserved' })
    else this.#answered(question)
    if (found.is === 'object') this.#keep(found.object)
    return found
  }

  readonly list: Reader['list'] = (kind, where) => everyItem(this.pages(kind, where))

  async *pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}): AsyncGenerator<Page<T>> {
    const question = questionOf(kind, where)
    try {
      for await (const page of this.#reader.pages(wholeOf(kind), where)) {
        for (const item of page.items) this.#keep(item)
        yield page
      }
    } catch (error) {
      this.#failed(question, error)
    }
    this.#answered(question)
  }

  readonly watch: Reader['watch'] = (kind, where, signal) => this.#reader.watch(kind, where, signal)

  readonly versions: Reader['versions'] = async (group) => {
    const versions = await this.#reader.versions(group)
    this.#groups.set(group, versions)
    return versions
  }

  readonly version: Reader['version'] = async () => (this.#version = await this.#reader.version())

  readonly log: Reader['log'] = (pod, options) => this.#reader.log(pod, options)

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

  #answered(question: Question): void {
    this.#read.set(JSON.stringify(question), question)
  }

  #failed(question: Question, error: unknown): never {
    if (error instanceof ApiError) this.#refused(question, error)
    throw error
  }

  #refused(
    question: Question,
    {
      status: code,
      statusReason: reason,
      message: why = '',
    }: Pick<ApiError, 'status' | 'statusReason'> & { message?: string },
  ): void {
    this.#unread.set(JSON.stringify(question), { ...question, code, reason, why })
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

const inOrder = <T>(found: ReadonlyMap<string, T>): T[] => [...found].toSorted(byKey).map(([, one]) => one)

/**
 * What is kept of a value. 1: all of it, 0: nothing, `=`: a text, number or truth value. Of an object the members that are named, that fit a pattern between slashes, and the others by `*`. Of a
 * list each element, where it has the member of `?` and that fits. `json`: of a text that is JSON. Any other text: as that member of the whole shape.
 */
type Shape = 0 | 1 | string | { readonly [member: string]: Shape }

const shapes = new Map(
  rows.flatMap(({ kinds, kept }) => kinds.map((kind) => [kind, kept as unknown as Members])),
)
type Members = Exclude<Shape, string | number>

function shaped(value: unknown, shape: Shape, whole: Members): unknown {
  if (shape === 1) return value
  if (shape === '=') return typeof value === 'object' ? undefined : value
  if (typeof shape === 'string') return shaped(value, whole[shape] ?? 0, whole)
  if (shape === 0) return undefined
  if (Array.isArray(value))
    return value.flatMap((one) => (fits(one, shape) ? [shaped(one, shape, whole) ?? {}] : []))
  if (shape['json'] !== undefined) {
    const kept = typeof value === 'string' ? shaped(parseJson(value), shape['json'], whole) : undefined
    return kept && JSON.stringify(kept)
  }
  if (!isRecord(value)) return undefined
  const kept = Object.entries(value).map(([key, below]) => [key, shaped(below, shapeOf(key, shape), whole)])
  return Object.fromEntries(kept.filter(([, below]) => below !== undefined))
}

function shapeOf(key: string, shape: Members): Shape {
  if (Object.hasOwn(shape, key)) return shape[key] ?? 0
  const isNamed = (name: string) => name.startsWith('/') && new RegExp(name.slice(1, -1), 'u').test(key)
  return shape[Object.keys(shape).find(isNamed) ?? '*'] ?? 0
}

function fits(element: unknown, { '?': wanted }: { '?'?: Shape }): boolean {
  const [member = '', pattern = ''] = (typeof wanted === 'string' ? wanted : '').split(' ')
  if (member === '') return true
  const value = isRecord(element) ? element[member] : undefined
  return value !== undefined && new RegExp(pattern, 'u').test(typeof value === 'string' ? value : '')
}

/** Of these it is judged who wrote what, and how large the last-applied annotation is. */
const judgedByManagers = new Set(
  'KubeVirt Deployment DaemonSet CustomResourceDefinition ValidatingWebhookConfiguration MutatingWebhookConfiguration'.split(
    ' ',
  ),
)

/** What is kept of an object: all that is judged by, and nothing that could be a secret. Undefined: nothing at all. */
export function trimmed(object: KubeObject): KubeObject | undefined {
  const { kind } = object
  if (kind === 'Secret' || isOfOthers(object)) return undefined
  const kept = withoutSecrets({ ...object, metadata: trimmedMetadata(kind, object.metadata) })
  const shape = shapes.get(kind)
  if (shape !== undefined) return shaped(kept, shape, shape) as KubeObject
  return kind === 'ClusterRoleBinding' || kind === 'RoleBinding' ? withoutPeople(kept) : kept
}

/** CRDs and APIServices of groups that no fact is about: there may be hundreds. */
function isOfOthers({ kind, spec }: KubeObject & { spec?: { group?: unknown } }): boolean {
  const aboutGroups = kind === 'CustomResourceDefinition' || kind === 'APIService'
  return aboutGroups && !/(^|\.)kubevirt\.io$/.test(String(spec?.group))
}

function trimmedMetadata(kind: string, { managedFields, annotations, ...rest }: Metadata): Metadata {
  const isJudged = judgedByManagers.has(kind)
  return {
    ...rest,
    ...(annotations && {
      annotations: withoutKeys(annotations, (key) => key === lastApplied && !isJudged) as Record<
        string,
        string
      >,
    }),
    ...(managedFields && isJudged && { managedFields }),
  }
}

/** Users and their groups are nobody's business; ServiceAccounts are judged. */
function withoutPeople(object: KubeObject & { subjects?: { kind: string; name: string }[] }): KubeObject {
  const subjects = object.subjects?.filter(
    ({ kind, name }) => kind === 'ServiceAccount' || (kind === 'Group' && name.startsWith('system:')),
  )
  return { ...object, ...(subjects && { subjects }) }
}
