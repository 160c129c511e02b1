import type {
  Change,
  Found,
  LogOptions,
  Page,
  Reader,
  Ref,
  ServerVersion,
  Where,
} from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import { Pods } from '../../cluster/kinds/pods.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { proxiedName, type ServiceCall } from '../../cluster/service-call.ts'
import { byPriority } from './custom-kinds.ts'
import { nameSelected } from './field-selector.ts'
import { followStore } from './follow-store.ts'
import { named, request, type StoreClient } from './store-client.ts'
import { Services } from './service-proxy.ts'
import type { Listing } from './store-request.ts'
import { callSubresource } from './subresource-call.ts'

export class StoreReader implements Reader {
  readonly #client: StoreClient

  constructor(client: StoreClient) {
    this.#client = client
  }

  async find<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> {
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

  follow<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal): AsyncIterable<Change<T>> {
    const { store, caller } = this.#client
    return followStore<T>({ store, caller, kind, where: listingOf(where) }, signal)
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
