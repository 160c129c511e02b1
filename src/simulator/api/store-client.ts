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
  type Where,
  type Writer,
} from '../../lib/kube/cluster.ts'
import { admin, type ApiRequest, type Caller, decide, perform } from './api-request.ts'
import type { Listing, Store, Write } from './store.ts'
import { copy, type Json, shared } from './json.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { byPriority } from './kinds/custom-kinds.ts'
import { nameSelected, shownAs, selection } from './list-options.ts'
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
  return { reader: new StoreReader(client), writer: storeWriter(client), reviewer: storeReviewer(client) }
}

function callerOf({ user, groups = [] }: StoreClientOptions): Caller {
  if (user === undefined) return admin
  return { user, groups: [...groups, 'system:authenticated'], userAgent: 'in-process' }
}

function storeReviewer(client: StoreClient): Reviewer {
  const { store, caller } = client
  const review = { apiVersion: 'authorization.k8s.io/v1', plural: 'selfsubjectaccessreviews' }
  return {
    can: (access: Access) =>
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

/** `async`, so that a Refusal is a rejection as it would be over HTTP. */
async function request<T>(
  { store, caller, dryRun }: StoreClient,
  what: ApiRequest,
  work: () => T,
): Promise<T> {
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
    const object = await request(this.#client, { verb: 'get', kind, ...named(ref) }, () =>
      store.read(kind, ref),
    )
    return object ? { is: 'object', object: object as T } : { is: 'absent' }
  }

  async list<T extends KubeObject>(kind: Kind<T>, where: Where = {}): Promise<T[]> {
    const all: T[] = []
    for await (const page of this.pages(kind, where)) all.push(...page.items)
    return all
  }

  async *pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}): AsyncGenerator<Page<T>> {
    const { store } = this.#client
    const listed = listingOf(where)
    const asked = { verb: 'list', kind, namespace: where.namespace, name: nameSelected(listed.fields) }
    let token: string | undefined
    do {
      const listing = { ...listed, limit: where.pageSize ?? 500, continue: token }
      const page = await request(this.#client, asked, () => store.list(kind, listing))
      token = page.continue
      const { resourceVersion, remaining } = page
      const items = (kind.metadataOnly ? page.items.map(metadataAlone) : page.items) as T[]
      yield { items, resourceVersion, ...(remaining !== undefined && { remaining }) }
    } while (token !== undefined)
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
    const call = { kind: Pods, ref: pod, name: 'log', parameters }
    const text = await request(
      this.#client,
      { verb: 'get', kind: Pods, subresource: 'log', ...named(pod) },
      () => callSubresource(store, caller, call),
    )
    return typeof text === 'string' ? text : JSON.stringify(text)
  }

  async askService(asked: ServiceCall): Promise<string> {
    const { store, caller } = this.#client
    const ref = { namespace: asked.service.namespace, name: proxiedName(asked) }
    const answer = await request(
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
async function* watchStore<T extends KubeObject>(
  following: Watching,
  signal: AbortSignal,
): AsyncGenerator<Change<T>> {
  const queue = new Queue<Change<T>>(signal)
  const { kinds } = following.store
  let stop = begin(following, queue)
  const stopServing = kinds.onServed((kind) => {
    if (stop === undefined && kind.plural === following.kind.plural) stop = begin(following, queue)
  })
  try {
    for (;;) {
      const next = queue.shift() ?? (await queue.arrival())
      if (next === undefined) return
      yield next
    }
  } finally {
    stop?.()
    stopServing()
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

/** Waiting is a promise that the next push settles: a microtask, no timer. */
class Queue<T> {
  readonly #waiting: T[] = []
  readonly #signal: AbortSignal
  #wake: (() => void) | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake?.(), { once: true })
  }

  push(item: T): void {
    this.#waiting.push(item)
    this.#wake?.()
  }

  shift(): T | undefined {
    return this.#signal.aborted ? undefined : this.#waiting.shift()
  }

  /** The next item, or undefined when the signal came. */
  async arrival(): Promise<T | undefined> {
    if (this.#signal.aborted) return undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
    return this.shift()
  }
}

/** Signs with the client's field manager. */
function storeWriter(client: StoreClient): Writer {
  const { store } = client
  const write: Write = { manager: client.manager, dryRun: client.dryRun, user: client.caller.user }
  return {
    create: async <T extends KubeObject>(kind: Kind<T>, object: T) => {
      const asked = { verb: 'create', kind, namespace: object.metadata.namespace }
      return (await request(client, asked, () => store.create(kind, object, write))) as T
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
      return (await request(client, { verb: 'patch', kind, name, namespace }, () =>
        store.patch(kind, { name, namespace }, body, { ...write, manager }),
      )) as T
    },
    delete: async (kind, ref, only) => {
      const removal = { ...write, only }
      await request(client, { verb: 'delete', kind, ...named(ref) }, () => store.remove(kind, ref, removal))
    },
    subresource: (kind, ref, { name, method, body }) => {
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
  return (await request(client, { verb: 'patch', kind, ...named(ref), subresource: on }, () =>
    store.patch(kind, ref, { type, body: copy(body) }, { manager, dryRun, user: caller.user, on }),
  )) as T
}
