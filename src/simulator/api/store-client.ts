import * as kube from '../kinds.ts'
import {
  type Access,
  type Change,
  type Cluster,
  type Found,
  type JsonOperation,
  type LogOptions,
  type Page,
  proxiedName,
  type Reader,
  type Ref,
  type Reviewer,
  type ServerVersion,
  type ServiceCall,
  type SingleAsk,
  type Where,
  type Writer,
} from '../../lib/kube/cluster.ts'
import { admin, type ApiRequest, askAggregated, type Caller, decide, perform } from './api-request.ts'
import type { Listing, Store, Write } from './store.ts'
import { copy, type Json, shared } from './json.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { byPriority } from './kinds/custom-kinds.ts'
import { nameSelected, selection, shownAs } from './list-options.ts'
import { callSubresource, Services } from './subresources.ts'
import { ApiError } from '../../lib/kube/errors.ts'

export interface StoreClientOptions {
  /** Default: an admin, who may everything. */
  readonly user?: string
  readonly groups?: readonly string[]
  /** Default `kvup`. */
  readonly fieldManager?: string
}

/** A Cluster directly on the store, without HTTP: every await is a microtask, so that runs under a SimClock are deterministic. */
export function storeCluster(store: Store, options: StoreClientOptions = {}): Cluster {
  const client: StoreClient = {
    store,
    caller: callerOf(options),
    manager: options.fieldManager ?? 'kvup',
    dryRun: false,
  }
  const reader = new StoreReader(client)
  const reviewer = storeReviewer(client)
  return { reader, writer: storeWriter(client), reviewer, askOnce: () => singleAsk(client, reader, reviewer) }
}

const singleAsk = ({ store, caller }: StoreClient, reader: Reader, { dryRun }: Reviewer): SingleAsk => ({
  get: (kind, ref) => reader.get(kind, ref),
  pages: (kind, where) => reader.pages(kind, where),
  dryRun,
  async path(path) {
    const answer = askAggregated(store, caller, path)
    if (answer === undefined) throw new ApiError(404, 'NotFound', `${path} is not served`)
    return answer
  },
})

function callerOf({ user, groups = [] }: StoreClientOptions): Caller {
  if (user === undefined) return admin
  return { user, groups: [...groups, 'system:authenticated'], userAgent: 'in-process' }
}

function storeReviewer(client: StoreClient): Reviewer {
  const { store, caller } = client
  const review = { apiVersion: 'authorization.k8s.io/v1', plural: 'selfsubjectaccessreviews' }
  return {
    can: async (access: Access) =>
      request(client, { verb: 'create', kind: review }, () => decide(store, caller, access)),
    whoAmI: async () => caller.user,
    dryRun: storeWriter({ ...client, dryRun: true }),
  }
}

/** Who talks to the store, and how its writes are signed. */
interface StoreClient {
  readonly store: Store
  readonly caller: Caller
  readonly manager: string
  readonly dryRun: boolean
}

/** Throws a Refusal: who asks is `async`, so that it is a rejection as it would be over HTTP. */
function request<T>({ store, caller, dryRun }: StoreClient, what: ApiRequest, work: () => T): T {
  return shared(perform(store, caller, { dryRun, ...what }, work))
}

/** What a request says of an object, and nothing else: a reference out of an object (`installPlanRef`, an owner) has a kind of its own. */
export const named = ({ name, namespace }: Ref): Pick<ApiRequest, 'name' | 'namespace'> => ({
  name,
  namespace,
})

class StoreReader implements Reader {
  readonly #client: StoreClient

  constructor(client: StoreClient) {
    this.#client = client
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> {
    const { store } = this.#client
    if (!store.kinds.find(kind)) return { is: 'unserved' }
    const object = request(this.#client, { verb: 'get', kind, ...named(ref) }, () => store.read(kind, ref))
    return object ? { is: 'object', object: object as T } : { is: 'absent' }
  }

  async list<T extends KubeObject>(kind: Kind<T>, where: Where = {}): Promise<T[]> {
    const listed = listingOf(where)
    let next = this.#page(kind, where, listed)
    const all = next.page.items
    while (next.token !== undefined) {
      next = this.#page(kind, where, { ...listed, continue: next.token })
      for (const item of next.page.items) all.push(item)
    }
    return all
  }

  async *pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}): AsyncGenerator<Page<T>> {
    const listed = listingOf(where)
    let token: string | undefined
    do {
      const next = this.#page(kind, where, token === undefined ? listed : { ...listed, continue: token })
      yield next.page
      token = next.token
    } while (token !== undefined)
  }

  /** What is listed is frozen already. */
  #page<T extends KubeObject>(
    kind: Kind<T>,
    { namespace, pageSize = 500 }: Where,
    listed: Listing,
  ): { page: { items: T[]; resourceVersion: string; remaining?: number }; token: string | undefined } {
    const { store, caller, dryRun } = this.#client
    const asked = { dryRun, verb: 'list', kind, namespace, name: nameSelected(listed.fields) }
    const page = perform(store, caller, asked, () => store.list(kind, { ...listed, limit: pageSize }))
    const { resourceVersion, remaining, continue: token } = page
    const items = (kind.metadataOnly ? page.items.map(metadataAlone) : page.items) as T[]
    return { page: { items, resourceVersion, ...(remaining !== undefined && { remaining }) }, token }
  }

  watch<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal): AsyncIterable<Change<T>> {
    const { store, caller } = this.#client
    return watchStore<T>({ store, caller, kind, where: listingOf(where) }, signal)
  }

  async versions(group: string): Promise<readonly string[]> {
    return byPriority(this.#client.store.kinds.groups().get(group) ?? [])
  }

  async version(): Promise<ServerVersion> {
    return { ...this.#client.store.version }
  }

  async log(pod: Ref, { container, previous, tailLines }: LogOptions = {}): Promise<string> {
    const { store, caller } = this.#client
    const parameters = {
      ...(container !== undefined && { container }),
      ...(previous === true && { previous: 'true' }),
      ...(tailLines !== undefined && { tailLines: String(tailLines) }),
    }
    const call = { kind: kube.Pods, ref: pod, name: 'log', parameters }
    const text = request(
      this.#client,
      { verb: 'get', kind: kube.Pods, subresource: 'log', ...named(pod) },
      () => callSubresource(store, caller, call),
    )
    return typeof text === 'string' ? text : JSON.stringify(text)
  }

  async askService(asked: ServiceCall): Promise<string> {
    const { store, caller } = this.#client
    const ref = { namespace: asked.service.namespace, name: proxiedName(asked) }
    const answer = request(
      this.#client,
      { verb: 'get', kind: Services, subresource: 'proxy', ...named(ref) },
      () => callSubresource(store, caller, { kind: Services, ref, name: `proxy${asked.path}` }),
    )
    return typeof answer === 'string' ? answer : JSON.stringify(answer)
  }
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

/** What there is, then `synced`, then every change until the signal. A kind that is not served is waited for. */
function watchStore<T extends KubeObject>(
  following: Watching,
  signal: AbortSignal,
): AsyncIterable<Change<T>> {
  return { [Symbol.asyncIterator]: () => new StoreWatch<T>(following, signal) }
}

class StoreWatch<T extends KubeObject> implements AsyncIterator<Change<T>, undefined> {
  readonly #queue: Queue<Change<T>>
  readonly #stopServing: () => void
  #stop: (() => void) | undefined

  constructor(following: Watching, signal: AbortSignal) {
    this.#queue = new Queue<Change<T>>(signal)
    this.#stop = begin(following, this.#queue)
    this.#stopServing = following.store.kinds.onServed((kind) => {
      if (this.#stop === undefined && kind.plural === following.kind.plural)
        this.#stop = begin(following, this.#queue)
    })
  }

  /** Millions are asked for: no more than one promise is made for each. */
  next(): Promise<IteratorResult<Change<T>, undefined>> {
    const value = this.#queue.shift()
    if (value !== undefined) return Promise.resolve({ value, done: false })
    return new Promise((resolve) => {
      this.#queue.onArrival((next) =>
        resolve(next === undefined ? this.return() : { value: next, done: false }),
      )
    })
  }

  async return(): Promise<{ value: undefined; done: true }> {
    this.#stop?.()
    this.#stopServing()
    return { value: undefined, done: true }
  }
}

/** Undefined when it could not begin: the follower has been told that it is lost. */
function begin<T extends KubeObject>(
  { store, caller, kind, where }: Watching,
  queue: Queue<Change<T>>,
): (() => void) | undefined {
  const { namespace } = where
  try {
    const resolved = store.kinds.resolve(kind)
    const asked = { kind, namespace, name: nameSelected(where.fields) }
    const page = perform(store, caller, { ...asked, verb: 'list' }, () => store.list(kind, where))
    perform(store, caller, { ...asked, verb: 'watch' }, () => undefined)
    for (const object of page.items) queue.push({ type: 'added', object: shared(object) as T })
    queue.push({ type: 'synced' })
    const matches = selection(resolved, where)
    return store.watch(kind, (event) => {
      const type = shownAs(event, matches)
      if (type) queue.push({ type: changes[type], object: shared(event.object) as T })
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    queue.push({ type: 'lost', why: error.message })
    return undefined
  }
}

const changes = { ADDED: 'added', MODIFIED: 'modified', DELETED: 'deleted' } as const

class Queue<T> {
  #waiting: T[] = []
  /** Where the next one stands in it: to take the first out of thousands would move all the others. */
  #next = 0
  readonly #signal: AbortSignal
  #tell: ((item: T | undefined) => void) | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#hand(undefined), { once: true })
  }

  push(item: T): void {
    if (this.#tell) this.#hand(item)
    else this.#waiting.push(item)
  }

  shift(): T | undefined {
    if (this.#signal.aborted || this.#next >= this.#waiting.length) return undefined
    const item = this.#waiting[this.#next++]
    if (this.#next === this.#waiting.length) {
      this.#waiting = []
      this.#next = 0
    }
    return item
  }

  /** Told of the next item, or of undefined when the signal came; asked where there is none. */
  onArrival(tell: (item: T | undefined) => void): void {
    if (this.#signal.aborted) tell(undefined)
    else this.#tell = tell
  }

  #hand(item: T | undefined): void {
    const tell = this.#tell
    this.#tell = undefined
    tell?.(item)
  }
}

/** Signs with the client's field manager. */
function storeWriter(client: StoreClient): Writer {
  const { store } = client
  const write: Write = { manager: client.manager, dryRun: client.dryRun, user: client.caller.user }
  return {
    create: async <T extends KubeObject>(kind: Kind<T>, object: T) => {
      const asked = { verb: 'create', kind, namespace: object.metadata.namespace }
      return request(client, asked, () => store.create(kind, object, write)) as T
    },
    mergePatch: (kind, ref, body, on) => patch(client, kind, ref, { type: 'merge', body, on }),
    jsonPatch: <T extends KubeObject>(
      kind: Kind<T>,
      ref: Ref,
      body: readonly JsonOperation[],
      on?: 'status',
    ) => patch(client, kind, ref, { type: 'json', body, on }),
    apply: async <T extends KubeObject>(
      kind: Kind<T>,
      object: T,
      { force = false, manager = client.manager } = {},
    ) => {
      const { name, namespace } = object.metadata
      const body = { type: 'apply' as const, body: object, force }
      return request(client, { verb: 'patch', kind, name, namespace }, () =>
        store.patch(kind, { name, namespace }, body, { ...write, manager }),
      ) as T
    },
    delete: async (kind, ref, only) => {
      const removal = { ...write, only }
      request(client, { verb: 'delete', kind, ...named(ref) }, () => store.remove(kind, ref, removal))
    },
    subresource: async (kind, ref, { name, method, body }) => {
      const verb = method === 'PUT' ? 'update' : 'create'
      const call = { kind, ref, name, body: body as Json, dryRun: client.dryRun }
      return request(client, { verb, kind, ...named(ref), subresource: name }, () =>
        callSubresource(store, client.caller, call),
      )
    },
  }
}

async function patch<T extends KubeObject>(
  client: StoreClient,
  kind: Kind<T>,
  ref: Ref,
  { type, body, on }: { type: 'merge' | 'json'; body: unknown; on: 'status' | undefined },
): Promise<T> {
  const { store, manager, dryRun, caller } = client
  return request(client, { verb: 'patch', kind, ...named(ref), subresource: on }, () =>
    store.patch(kind, ref, type === 'merge' ? { type, body } : { type, body: copy(body) }, {
      manager,
      dryRun,
      user: caller.user,
      on,
    }),
  ) as T
}
