import type { Change, Cluster, JsonOperation, Ref, Where } from '../../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../../src/lib/kube/object.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { mergePatched } from '../../../src/lib/kube/patch.ts'

export interface Call {
  verb: string
  kind: string
  name?: string | undefined
}

interface Watcher {
  kind: Kind
  where: Where
  queue: Change<KubeObject>[]
  wake: () => void
}

/** A cluster in memory whose calls are counted and can be made to fail, hang or kill. */
export class FakeCluster {
  readonly calls: Call[] = []
  /** Runs before each call; what it throws is the answer. */
  before: (call: Call, number: number) => Promise<void> | void = () => undefined
  /** Runs when the server has acted, before the client learns of it. */
  after: (call: Call, number: number) => void = () => undefined
  /** Refused watches answer `lost` at once. */
  refuseWatches: string | undefined
  denied: (verb: string, resource: string) => boolean = () => false
  readonly #objects = new Map<string, KubeObject>()
  readonly #watchers = new Set<Watcher>()
  #revision = 0

  get watchers(): number {
    return this.#watchers.size
  }

  /** How many calls of a verb there were; all of them without. */
  count(...verbs: string[]): number {
    return this.calls.filter(({ verb }) => verbs.length === 0 || verbs.includes(verb)).length
  }

  writes(): Call[] {
    return this.calls.filter(({ verb }) => !['find', 'list', 'follow', 'can', 'whoAmI'].includes(verb))
  }

  /** As a controller or a person would: not counted. */
  put<T extends KubeObject>(kind: Kind<T>, object: Omit<T, 'apiVersion' | 'kind'>): void {
    const whole = { apiVersion: kind.apiVersion, kind: kind.kind, ...structuredClone(object) } as unknown as T
    this.#store(kind, whole)
  }

  peek<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | undefined {
    return structuredClone(this.#objects.get(key(kind, ref))) as T | undefined
  }

  remove(kind: Kind, ref: Ref): void {
    const object = this.#objects.get(key(kind, ref))
    if (object && this.#objects.delete(key(kind, ref))) this.#tell(kind, { type: 'deleted', object })
  }

  tell(kind: Kind, change: Change<KubeObject>): void {
    this.#tell(kind, change)
  }

  cluster(dryRun = false): Cluster {
    const call = async <T>(verb: string, kind: Kind, name: string | undefined, act: () => T): Promise<T> => {
      const made: Call = { verb: dryRun ? `dry-${verb}` : verb, kind: kind.kind, name }
      this.calls.push(made)
      const number = this.calls.length
      await this.before(made, number)
      const answer = structuredClone(act())
      this.after(made, number)
      return answer
    }
    const existing = <T extends KubeObject>(kind: Kind<T>, ref: Ref): T => {
      const found = this.#objects.get(key(kind, ref))
      if (!found) throw new ApiError(404, 'NotFound', `${kind.plural} "${ref.name}" not found`)
      return found as T
    }
    const keep = <T extends KubeObject>(kind: Kind<T>, object: T): T =>
      dryRun ? object : this.#store(kind, object)
    return {
      reader: {
        get: (kind, ref) =>
          call('find', kind, ref.name, () => {
            const object = this.peek(kind, ref)
            return object ? ({ is: 'object', object } as const) : ({ is: 'absent' } as const)
          }),
        list: (kind, where = {}) => call('list', kind, where.name, () => this.#matching(kind, where)),
        pages: () => {
          throw new Error('not in this fake')
        },
        watch: (kind, where, signal) => this.#follow(kind, where, signal),
        versions: async () => [],
        version: async () => ({ gitVersion: 'v1.35.0', major: '1', minor: '35' }),
        log: async () => '',
      },
      writer: {
        create: (kind, object) =>
          call('create', kind, object.metadata.name, () => {
            if (this.#objects.has(key(kind, object.metadata)))
              throw new ApiError(409, 'AlreadyExists', `${object.metadata.name} already exists`)
            return keep(kind, structuredClone(object))
          }),
        mergePatch: (kind, ref, change) =>
          call('patch', kind, ref.name, () => {
            const before = existing(kind, ref)
            const expected = (change as Partial<KubeObject>).metadata?.resourceVersion
            if (expected !== undefined && expected !== before.metadata.resourceVersion)
              throw new ApiError(409, 'Conflict', 'the object has been modified')
            return keep(kind, mergePatched(before, change) as typeof before)
          }),
        jsonPatch: (kind, ref, operations: readonly JsonOperation[]) =>
          call('json-patch', kind, ref.name, () => {
            throw new Error(`not in this fake: ${operations.length}`)
          }),
        apply: (kind, object) => call('apply', kind, object.metadata.name, () => keep(kind, object)),
        delete: (kind, ref) => call('delete', kind, ref.name, () => this.remove(kind, ref)),
        subresource: (kind, ref, { name }) => call(name, kind, ref.name, () => ({})),
      },
      reviewer: {
        can: async ({ verb, resource }) => ({ allowed: !this.denied(verb, resource), reason: '' }),
        whoAmI: async () => 'jane',
        dryRun: dryRun ? ({} as Cluster['writer']) : this.cluster(true).writer,
      },
    }
  }

  async *#follow<T extends KubeObject>(
    kind: Kind<T>,
    where: Where,
    signal: AbortSignal,
  ): AsyncIterable<Change<T>> {
    this.calls.push({ verb: 'follow', kind: kind.kind })
    const watcher: Watcher = { kind, where, queue: [], wake: () => undefined }
    if (this.refuseWatches === undefined) {
      for (const object of this.#matching(kind, where)) watcher.queue.push({ type: 'added', object })
      watcher.queue.push({ type: 'synced' })
    } else watcher.queue.push({ type: 'lost', why: this.refuseWatches })
    this.#watchers.add(watcher)
    signal.addEventListener('abort', () => watcher.wake(), { once: true })
    try {
      while (!signal.aborted) {
        const next = watcher.queue.shift()
        if (next) yield next as Change<T>
        else await new Promise<void>((resolve) => (watcher.wake = resolve))
      }
    } finally {
      this.#watchers.delete(watcher)
    }
  }

  #matching<T extends KubeObject>(kind: Kind<T>, where: Where): T[] {
    return [...this.#objects.entries()]
      .filter(([at]) => at.startsWith(`${kind.apiVersion} ${kind.kind} `))
      .map(([, object]) => object as T)
      .filter((object) => fits(object, where))
      .map((object) => structuredClone(object))
  }

  #store<T extends KubeObject>(kind: Kind<T>, object: T): T {
    const at = key(kind, object.metadata)
    const type = this.#objects.has(at) ? 'modified' : 'added'
    const stored = structuredClone(object)
    stored.metadata.resourceVersion = String(++this.#revision)
    stored.metadata.uid ??= `uid-${this.#revision}`
    this.#objects.set(at, stored)
    this.#tell(kind, { type, object: stored })
    return stored
  }

  #tell(kind: Kind, change: Change<KubeObject>): void {
    for (const watcher of this.#watchers) {
      if (watcher.kind.kind !== kind.kind) continue
      if ('object' in change && !fits(change.object, watcher.where)) continue
      watcher.queue.push(structuredClone(change))
      watcher.wake()
    }
  }
}

const key = (kind: Kind, { namespace, name }: Ref): string =>
  `${kind.apiVersion} ${kind.kind} ${namespace ?? ''}/${name}`

const fits = ({ metadata }: KubeObject, { namespace, name }: Where): boolean =>
  (namespace === undefined || metadata.namespace === namespace) &&
  (name === undefined || metadata.name === name)
