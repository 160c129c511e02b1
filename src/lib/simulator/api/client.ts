import type {
  Access,
  Cluster,
  JsonOperation,
  Reader,
  Ref,
  Reviewer,
  Where,
  Writer,
} from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import { Pods } from '../../cluster/kinds/pods.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { decide } from './authorization.ts'
import { byPriority } from './custom-kinds.ts'
import { followStore } from './follow-store.ts'
import { copy, type Json } from './json.ts'
import { admin, type ApiRequest, type Caller, perform } from './request.ts'
import type { Store } from './store.ts'
import type { Listing, Write } from './store-request.ts'
import { callSubresource } from './subresource-call.ts'

export interface StoreClientOptions {
  /** Default: an admin, who may everything. */
  readonly user?: string
  readonly groups?: readonly string[]
  /** Default `kvup`. */
  readonly fieldManager?: string
}

/** A Cluster directly on the store, without HTTP: every await is a microtask, so that runs under a SimClock are deterministic. */
export function storeCluster(store: Store, options: StoreClientOptions = {}): Cluster {
  const caller = callerOf(options)
  const manager = options.fieldManager ?? 'kvup'
  const client: Client = { store, caller, manager, dryRun: false }
  return {
    reader: storeReader(client),
    writer: storeWriter(client),
    reviewer: storeReviewer(client),
  }
}

function callerOf({ user, groups = [] }: StoreClientOptions): Caller {
  if (user === undefined) return admin
  return { user, groups: [...groups, 'system:authenticated'], userAgent: 'in-process' }
}

interface Client {
  readonly store: Store
  readonly caller: Caller
  readonly manager: string
  readonly dryRun: boolean
}

/** `async`, so that a Refusal is a rejection as it would be over HTTP. */
async function request<T>({ store, caller, dryRun }: Client, what: ApiRequest, work: () => T): Promise<T> {
  return copy(perform(store, caller, { dryRun, ...what }, work))
}

function listing({ name, fields, ...where }: Where): Listing {
  if (name === undefined) return { ...where, fields }
  const byName = `metadata.name=${name}`
  return { ...where, fields: fields === undefined ? byName : `${byName},${fields}` }
}

function storeReader(client: Client): Reader {
  const { store } = client
  async function* pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}) {
    let token: string | undefined
    do {
      const page = await request(client, { verb: 'list', kind, namespace: where.namespace }, () =>
        store.list(kind, { ...listing(where), limit: 500, continue: token }),
      )
      token = page.continue
      const items = page.items as T[]
      const { resourceVersion, remaining } = page
      yield { items, resourceVersion, ...(remaining !== undefined && { remaining }) }
    } while (token !== undefined)
  }
  return {
    async find<T extends KubeObject>(kind: Kind<T>, ref: Ref) {
      if (!store.kinds.find(kind)) return { is: 'unserved' }
      const object = await request(client, { verb: 'get', kind, ...ref }, () => store.read(kind, ref))
      return object ? { is: 'object', object: object as T } : { is: 'absent' }
    },
    async list<T extends KubeObject>(kind: Kind<T>, where: Where = {}) {
      const all: T[] = []
      for await (const page of pages(kind, where)) all.push(...page.items)
      return all
    },
    pages,
    follow: <T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal) =>
      followStore<T>({ store, caller: client.caller, kind, where: listing(where) }, signal),
    versions: async (group) => byPriority(store.kinds.groups().get(group) ?? []),
    version: async () => ({ ...store.version }),
    log: async (pod, { container, previous, tailLines } = {}) => {
      const parameters = {
        ...(container !== undefined && { container }),
        ...(previous === true && { previous: 'true' }),
        ...(tailLines !== undefined && { tailLines: String(tailLines) }),
      }
      const call = { kind: Pods, ref: pod, name: 'log', parameters }
      return String(
        await request(client, { verb: 'get', kind: Pods, subresource: 'log', ...pod }, () =>
          callSubresource(store, client.caller, call),
        ),
      )
    },
  }
}

function storeWriter(client: Client): Writer {
  const { store } = client
  const write: Write = { manager: client.manager, dryRun: client.dryRun, user: client.caller.user }
  const patch = async <T extends KubeObject>(
    kind: Kind<T>,
    ref: Ref,
    how: { type: 'merge' | 'json'; body: unknown; on: 'status' | undefined },
  ) =>
    (await request(client, { verb: 'patch', kind, ...ref, subresource: how.on }, () =>
      store.patch(kind, ref, { type: how.type, body: copy(how.body) }, { ...write, on: how.on }),
    )) as T
  return {
    create: async <T extends KubeObject>(kind: Kind<T>, object: T) => {
      const { namespace } = object.metadata
      return (await request(client, { verb: 'create', kind, namespace }, () =>
        store.create(kind, object, write),
      )) as T
    },
    mergePatch: (kind, ref, body, on) => patch(kind, ref, { type: 'merge', body, on }),
    jsonPatch: <T extends KubeObject>(
      kind: Kind<T>,
      ref: Ref,
      body: readonly JsonOperation[],
      on?: 'status',
    ) => patch(kind, ref, { type: 'json', body, on }),
    apply: async <T extends KubeObject>(
      kind: Kind<T>,
      object: T,
      { force = false, manager = client.manager } = {},
    ) => {
      const { name, namespace } = object.metadata
      return (await request(client, { verb: 'patch', kind, name, namespace }, () =>
        store.patch(kind, { name, namespace }, { type: 'apply', body: object, force }, { ...write, manager }),
      )) as T
    },
    delete: async (kind, ref, only) => {
      await request(client, { verb: 'delete', kind, ...ref }, () =>
        store.remove(kind, ref, { ...write, only }),
      )
    },
    subresource: (kind, ref, { name, method, body }) =>
      request(client, { verb: method === 'PUT' ? 'update' : 'create', kind, ...ref, subresource: name }, () =>
        callSubresource(store, client.caller, { kind, ref, name, body: body as Json, dryRun: client.dryRun }),
      ),
  }
}

function storeReviewer(client: Client): Reviewer {
  const { store, caller } = client
  const review = { apiVersion: 'authorization.k8s.io/v1', plural: 'selfsubjectaccessreviews' }
  return {
    can: (access: Access) =>
      request(client, { verb: 'create', kind: review }, () => decide(store, caller, access)),
    whoAmI: async () => caller.user,
    rehearsal: storeWriter({ ...client, dryRun: true }),
  }
}
