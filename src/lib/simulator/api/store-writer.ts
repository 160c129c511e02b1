import type { JsonOperation, Ref, Writer } from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { copy, type Json } from './json.ts'
import { named, request, type StoreClient } from './store-client.ts'
import type { Write } from './store-request.ts'
import { callSubresource } from './subresource-call.ts'

/** Signs with the client's field manager. */
export function storeWriter(client: StoreClient): Writer {
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
