import * as kube from '../kinds.ts'
import {
  type Change,
  type Cluster,
  type Page,
  proxiedName,
  type Reader,
  type Ref,
  type Where,
  type Writer,
} from '../../lib/kube/cluster.ts'
import { admin, type ApiRequest, askAggregated, type Caller, decide, perform } from './api-request.ts'
import type { Listing, Store, Write } from './store.ts'
import { copy, type Json, shared } from './json.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { byPriority } from './kinds/custom-kinds.ts'
import { nameSelected, selection, shownAs } from './list-options.ts'
import type { Patch } from './patch.ts'
import { callSubresource, Services } from './subresources.ts'
import { ApiError } from '../../lib/kube/errors.ts'

export interface StoreClientOptions {
  /** Default: an admin, who may everything. */
  readonly user?: string
  readonly groups?: readonly string[]
  /** Default `kvup`. */
  readonly fieldManager?: string
}

/** Who talks to the store, and how its writes are signed. */
interface StoreClient {
  readonly store: Store
  readonly caller: Caller
  readonly manager: string
  readonly dryRun: boolean
}

/** A Cluster directly on the store, without HTTP: every await is a microtask, so that runs under a SimClock are deterministic. */
export function storeCluster(
  store: Store,
  { user, groups = [], fieldManager: manager = 'kvup' }: StoreClientOptions = {},
): Cluster {
  const caller =
    user === undefined
      ? admin
      : { user, groups: [...groups, 'system:authenticated'], userAgent: 'in-process' }
  const client = { store, caller, manager, dryRun: false }
  const reader = storeReader(client)
  const dryRun = storeWriter({ ...client, dryRun: true })
  const review = { apiVersion: 'authorization.k8s.io/v1', plural: 'selfsubjectaccessreviews' }
  return {
    reader,
    writer: storeWriter(client),
    reviewer: {
      can: async (access) =>
        request(client, { verb: 'create', kind: review }, () => decide(store, caller, access)),
      whoAmI: async () => caller.user,
      dryRun,
    },
    askOnce: () => ({
      get: (kind, ref) => reader.get(kind, ref),
      pages: (kind, where) => reader.pages(kind, where),
      dryRun,
      async path(path) {
        const answer = askAggregated(store, caller, path)
        if (answer === undefined) throw new ApiError(404, 'NotFound', `${path} is not served`)
        return answer
      },
    }),
  }
}

/** Throws a Refusal: who asks is `async`, so that it is a rejection as it would be over HTTP. */
function request<T>({ store, caller, dryRun }: StoreClient, what: ApiRequest, work: () => T): T {
  return shared(perform(store, caller, { dryRun, ...what }, work))
}

/** What a request says of an object, and nothing else: a reference out of an object (`installPlanRef`, an owner) has a kind of its own. */
const named = ({ name, namespace }: Ref): Pick<ApiRequest, 'name' | 'namespace'> => ({ name, namespace })

function storeReader(client: StoreClient): Reader {
  const { store, caller } = client
  /** GET of text behind an object: a log, a service. */
  const readText = (kind: Kind, ref: Ref, name: string, parameters: Record<string, string> = {}): string => {
    const asked = { verb: 'get', kind, subresource: name.split('/')[0], ...named(ref) }
    const answer = request(client, asked, () =>
      callSubresource(store, caller, { kind, ref, name, parameters }),
    )
    return typeof answer === 'string' ? answer : JSON.stringify(answer)
  }
  return {
    get: async <T extends KubeObject>(kind: Kind<T>, ref: Ref) => {
      if (!store.kinds.find(kind)) return { is: 'unserved' }
      const object = request(client, { verb: 'get', kind, ...named(ref) }, () => store.read(kind, ref))
      return object ? { is: 'object', object: object as T } : { is: 'absent' }
    },
    list: async <T extends KubeObject>(kind: Kind<T>, where?: Where) => {
      const all: T[] = []
      for (const { items } of pagesOf(client, kind, where)) for (const item of items) all.push(item)
      return all
    },
    pages: async function* <T extends KubeObject>(kind: Kind<T>, where?: Where) {
      yield* pagesOf(client, kind, where)
    },
    watch: <T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal) => ({
      [Symbol.asyncIterator]: () =>
        new StoreWatch<T>({ store, caller, kind, where: listingOf(where) }, signal),
    }),
    versions: async (group) => byPriority(store.kinds.groups().get(group) ?? []),
    version: async () => ({ ...store.version }),
    log: async (pod, { container, previous, tailLines } = {}) =>
      readText(kube.Pods, pod, 'log', {
        ...(container !== undefined && { container }),
        ...(previous === true && { previous: 'true' }),
        ...(tailLines !== undefined && { tailLines: String(tailLines) }),
      }),
    askService: async (asked) => {
      const ref = { namespace: asked.service.namespace, name: proxiedName(asked) }
      return readText(Services, ref, `proxy${asked.path}`)
    },
  }
}

/** What is listed is frozen already. */
function* pagesOf<T extends KubeObject>(
  { store, caller, dryRun }: StoreClient,
  kind: Kind<T>,
  where: Where = {},
): Generator<Page<T>> {
  const { namespace, pageSize = 500 } = where
  const listed = listingOf(where)
  const asked = { dryRun, verb: 'list', kind, namespace, name: nameSelected(listed.fields) }
  let token: string | undefined
  do {
    const from = { ...listed, limit: pageSize, continue: token }
    const { items, resourceVersion, remaining, ...page } = perform(store, caller, asked, () =>
      store.list(kind, from),
    )
    token = page.continue
    yield {
      items: (kind.metadataOnly ? items.map(metadataAlone) : items) as T[],
      resourceVersion,
      ...(remaining !== undefined && { remaining }),
    }
  } while (token !== undefined)
}

function listingOf({ name, fields, ...where }: Where): Listing {
  if (name === undefined) return { ...where, fields }
  const byName = `metadata.name=${name}`
  return { ...where, fields: fields === undefined ? byName : `${byName},${fields}` }
}

const metadataAlone = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  apiVersion,
  kind,
  metadata,
})

interface Watching {
  readonly store: Store
  readonly caller: Caller
  readonly kind: Kind
  readonly where: Listing
}

const changes = { ADDED: 'added', MODIFIED: 'modified', DELETED: 'deleted' } as const

/** What there is, then `synced`, then every change until the signal. A kind that is not served is waited for. */
class StoreWatch<T extends KubeObject> implements AsyncIterator<Change<T>, undefined> {
  readonly #watching: Watching
  readonly #signal: AbortSignal
  readonly #stopServing: () => void
  #stop: (() => void) | undefined
  #waiting: Change<T>[] = []
  /** Where the next one stands in it: to take the first out of thousands would move all the others. */
  #next = 0
  /** Who waits for the next one. */
  #resolve: ((result: IteratorResult<Change<T>, undefined>) => void) | undefined

  constructor(watching: Watching, signal: AbortSignal) {
    this.#watching = watching
    this.#signal = signal
    signal.addEventListener('abort', () => this.#end(), { once: true })
    this.#stop = this.#begin()
    this.#stopServing = watching.store.kinds.onServed((kind) => {
      if (this.#stop === undefined && kind.plural === watching.kind.plural) this.#stop = this.#begin()
    })
  }

  /** Millions are asked for: no more than one promise is made for each. */
  next(): Promise<IteratorResult<Change<T>, undefined>> {
    if (this.#signal.aborted) return this.return()
    const value = this.#waiting[this.#next]
    if (value === undefined)
      return new Promise((resolve) => {
        this.#resolve = resolve
      })
    if (++this.#next === this.#waiting.length) {
      this.#waiting = []
      this.#next = 0
    }
    return Promise.resolve({ value, done: false })
  }

  async return(): Promise<{ value: undefined; done: true }> {
    this.#stop?.()
    this.#stopServing()
    return { value: undefined, done: true }
  }

  #end(): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    resolve?.(this.return() as never)
  }

  #push(value: Change<T>): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    if (resolve) resolve({ value, done: false })
    else this.#waiting.push(value)
  }

  /** Undefined when it could not begin: the follower has been told that it is lost. */
  #begin(): (() => void) | undefined {
    const { store, caller, kind, where } = this.#watching
    const asked = { kind, namespace: where.namespace, name: nameSelected(where.fields) }
    try {
      const resolved = store.kinds.resolve(kind)
      const { items } = perform(store, caller, { ...asked, verb: 'list' }, () => store.list(kind, where))
      perform(store, caller, { ...asked, verb: 'watch' }, () => undefined)
      for (const object of items) this.#push({ type: 'added', object: shared(object) as T })
      this.#push({ type: 'synced' })
      const matches = selection(resolved, where)
      return store.watch(kind, (event) => {
        const type = shownAs(event, matches)
        if (type) this.#push({ type: changes[type], object: shared(event.object) as T })
      })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#push({ type: 'lost', why: error.message })
      return undefined
    }
  }
}

/** Signs with the client's field manager. */
function storeWriter(client: StoreClient): Writer {
  const { store, manager, dryRun, caller } = client
  const write: Write = { manager, dryRun, user: caller.user }
  const patch = <T extends KubeObject>(
    kind: Kind<T>,
    ref: Ref,
    change: Patch,
    own: Partial<Write> = {},
  ): T => {
    const asked = { verb: 'patch', kind, ...named(ref), subresource: own.on }
    return request(client, asked, () => store.patch(kind, ref, change, { ...write, ...own })) as T
  }
  return {
    create: async <T extends KubeObject>(kind: Kind<T>, object: T) => {
      const asked = { verb: 'create', kind, namespace: object.metadata.namespace }
      return request(client, asked, () => store.create(kind, object, write)) as T
    },
    mergePatch: async (kind, ref, body, on) => patch(kind, ref, { type: 'merge', body }, { on }),
    jsonPatch: async (kind, ref, body, on) => patch(kind, ref, { type: 'json', body: copy(body) }, { on }),
    apply: async (kind, body, { force = false, manager: by = manager } = {}) =>
      patch(kind, named(body.metadata) as Ref, { type: 'apply', body, force }, { manager: by }),
    delete: async (kind, ref, only) => {
      request(client, { verb: 'delete', kind, ...named(ref) }, () =>
        store.remove(kind, ref, { ...write, only }),
      )
    },
    subresource: async (kind, ref, { name, method, body }) => {
      const asked = { verb: method === 'PUT' ? 'update' : 'create', kind, ...named(ref), subresource: name }
      const call = { kind, ref, name, body: body as Json, dryRun }
      return request(client, asked, () => callSubresource(store, caller, call))
    },
  }
}
