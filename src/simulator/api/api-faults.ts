import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import { at, type Json, same } from './json.ts'
import { internalError, Refusal, tooManyRequests, unauthorized } from './api-refusal.ts'
import { type ApiRequest, requestOfPath } from './api-request.ts'
import type { Admission, Store } from './store.ts'
import type { Access, Cluster, LogOptions, Ref, ServiceCall, Where, Writer } from '../../lib/kube/cluster.ts'
import { named } from './store-client.ts'

/** Which requests a fault is for; what is not said matches all. */
interface On {
  readonly verb?: string
  readonly resource?: string
  readonly user?: string
}

/** What can go wrong with an API server, as data. */
export type ApiFault =
  /** `status` for the next `times` requests, or until the fault is lifted. `retryAfter` in seconds, for 429. */
  | {
      readonly is: 'refused'
      readonly status: 429 | 500 | 503
      readonly retryAfter?: number
      readonly times?: number
      readonly on?: On
    }
  /** Expired credentials: 401. */
  | { readonly is: 'unauthorized'; readonly times?: number; readonly on?: On }
  /** Every answer comes so many ms of the clock later. */
  | { readonly is: 'slow'; readonly ms: number; readonly times?: number; readonly on?: On }
  /** An admission webhook that says no. */
  | {
      readonly is: 'webhook-refuses'
      readonly resource: string
      readonly webhook: string
      readonly message: string
      readonly operations?: readonly string[]
    }
  /** An admission webhook with failurePolicy Fail that nobody answers. */
  | {
      readonly is: 'webhook-down'
      readonly resource: string
      readonly webhook: string
      readonly service: string
      readonly operations?: readonly string[]
    }
  /** Somebody who sets a field back, so many ms after another value was written. */
  | {
      readonly is: 'reverts'
      readonly resource: string
      readonly name?: string
      readonly path: readonly string[]
      readonly value: unknown
      readonly afterMs: number
      readonly by: string
      readonly times?: number
    }

/** Faults of a store and its servers that are switched on and off while they run. */
export class ApiFaults {
  readonly #store: Store
  readonly #left = new Map<ApiFault, number>()

  constructor(store: Store) {
    this.#store = store
    store.admission.add((admission) => this.#admit(admission))
  }

  get clock(): Clock {
    return this.#store.clock
  }

  /** Switches a fault on; the answer switches it off. */
  add(fault: ApiFault): () => void {
    this.#left.set(fault, 'times' in fault ? (fault.times ?? Infinity) : Infinity)
    const stop = fault.is === 'reverts' ? this.#revert(fault) : undefined
    return () => {
      this.#left.delete(fault)
      stop?.()
    }
  }

  clear(): void {
    this.#left.clear()
  }

  /** To be asked before a request is answered. Waits where answers are slow, throws the Refusal of a fault. */
  async before(request: ApiRequest & { user: string }): Promise<void> {
    const slow = this.#take('slow', request)
    if (slow) await this.clock.sleep(slow.ms)
    if (this.#take('unauthorized', request)) throw unauthorized()
    const refused = this.#take('refused', request)
    if (refused?.status === 429) throw tooManyRequests(refused.retryAfter ?? 1)
    if (refused?.status === 503)
      throw new Refusal(503, 'ServiceUnavailable', 'the server is currently unable to handle the request')
    if (refused) throw internalError('etcdserver: request timed out')
  }

  #find<K extends ApiFault['is']>(is: K, request: ApiRequest & { user: string }) {
    return [...this.#left.keys()].find(
      (fault): fault is ApiFault & { is: K } =>
        fault.is === is && concerns('on' in fault ? fault.on : undefined, request),
    )
  }

  #take<K extends ApiFault['is']>(is: K, request: ApiRequest & { user: string }) {
    const fault = this.#find(is, request)
    if (fault) this.#use(fault)
    return fault
  }

  #use(fault: ApiFault): void {
    const left = (this.#left.get(fault) ?? 0) - 1
    if (left > 0) this.#left.set(fault, left)
    else this.#left.delete(fault)
  }

  #admit({ operation, kind }: Admission): void {
    for (const fault of this.#left.keys()) {
      if (fault.is !== 'webhook-down' && fault.is !== 'webhook-refuses') continue
      if (fault.resource !== kind.plural || fault.operations?.includes(operation) === false) continue
      throw fault.is === 'webhook-down' ? webhookDown(fault) : webhookRefuses(fault)
    }
  }

  #revert(fault: ApiFault & { is: 'reverts' }): () => void {
    const kind = this.#store.kinds.all().find((k) => k.plural === fault.resource)
    if (!kind) return () => undefined
    return this.#store.watch(kind, ({ type, object }) => {
      const concerned = fault.name === undefined || fault.name === object.metadata.name
      if (type === 'DELETED' || !concerned || same(at(object, ...fault.path) ?? null, fault.value)) return
      void this.#setBack(fault, kind, object)
    })
  }

  async #setBack(
    fault: ApiFault & { is: 'reverts' },
    kind: Parameters<Store['read']>[0],
    { metadata }: KubeObject,
  ): Promise<void> {
    await this.clock.sleep(fault.afterMs)
    const now = this.#store.read(kind, metadata)
    if (!now || !this.#left.has(fault) || same(at(now, ...fault.path) ?? null, fault.value)) return
    this.#use(fault)
    const body = fault.path
      .toReversed()
      .reduce<unknown>((value, name): Json => ({ [name]: value }), fault.value)
    this.#store.patch(kind, metadata, { type: 'merge', body }, { manager: fault.by, user: fault.by })
  }
}

function concerns(on: On | undefined, { verb, kind, user }: ApiRequest & { user: string }): boolean {
  if (!on) return true
  return (
    (on.verb === undefined || on.verb === verb) &&
    (on.resource === undefined || on.resource === kind.plural) &&
    (on.user === undefined || on.user === user)
  )
}

const webhookDown = ({ webhook, service }: ApiFault & { is: 'webhook-down' }): Refusal =>
  internalError(
    `failed calling webhook "${webhook}": failed to call webhook: Post "https://${service}.svc:443/?timeout=10s": dial tcp 10.96.0.12:443: connect: connection refused`,
  )

/** 422, as KubeVirt's own webhooks answer. */
const webhookRefuses = ({ webhook, message }: ApiFault & { is: 'webhook-refuses' }): Refusal =>
  new Refusal(422, 'Invalid', `admission webhook "${webhook}" denied the request: ${message}`)

/** The cluster as it is seen through an API server with faults: slow, 401, 429 and 5xx before the request is done. */
export function withFaults(cluster: Cluster, faults: ApiFaults, user = 'kubernetes-admin'): Cluster {
  const { reader, reviewer } = cluster
  const through = async <T>(request: ApiRequest, call: () => Promise<T>): Promise<T> => {
    await faults.before({ ...request, user })
    return call()
  }
  const faulty = {
    reader: {
      get: (kind, ref) => through({ verb: 'get', kind, ...named(ref) }, () => reader.get(kind, ref)),
      list: (kind, where = {}) =>
        through({ verb: 'list', kind, namespace: where.namespace }, () => reader.list(kind, where)),
      async *pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}) {
        await faults.before({ verb: 'list', kind, namespace: where.namespace, user })
        yield* reader.pages(kind, where)
      },
      watch: (kind, where, signal) => reader.watch(kind, where, signal),
      versions: (group) => through(discovery, () => reader.versions(group)),
      version: () => through(discovery, () => reader.version()),
      log: (pod: Ref, options?: LogOptions) =>
        through({ verb: 'get', kind: pods, ...named(pod) }, () => reader.log(pod, options)),
      ...(reader.askService && {
        askService: (call: ServiceCall) => askThrough(through, { reader, call }),
      }),
    },
    writer: writerThrough(cluster.writer, through),
    reviewer: {
      can: (access: Access) => through({ verb: 'create', kind: reviews }, () => reviewer.can(access)),
      whoAmI: () => through({ verb: 'create', kind: reviews }, () => reviewer.whoAmI()),
      dryRun: writerThrough(reviewer.dryRun, through),
    },
  } satisfies Cluster
  const askOnce = cluster.askOnce?.bind(cluster)
  if (askOnce === undefined) return faulty
  return {
    ...faulty,
    askOnce: (ms) => ({
      get: (kind, ref) => faulty.reader.get(kind, ref),
      pages: (kind, where) => faulty.reader.pages(kind, where),
      dryRun: faulty.reviewer.dryRun,
      path: (path) => through(requestOfPath(path), () => askOnce(ms).path(path)),
    }),
  }
}

const services = { apiVersion: 'v1', plural: 'services' }

async function askThrough(
  through: Through,
  { reader, call }: { reader: Cluster['reader']; call: ServiceCall },
): Promise<string> {
  const asked = { verb: 'get', kind: services, ...named(call.service), subresource: 'proxy' }
  return through(asked, async () => (await reader.askService?.(call)) ?? '')
}

const discovery: ApiRequest = { verb: 'get', kind: { apiVersion: 'v1', plural: '' } }
const pods = { apiVersion: 'v1', plural: 'pods' }
const reviews = { apiVersion: 'authorization.k8s.io/v1', plural: 'selfsubjectaccessreviews' }

type Through = <T>(request: ApiRequest, call: () => Promise<T>) => Promise<T>

const writerThrough = (writer: Writer, through: Through): Writer => ({
  create: (kind, object) =>
    through({ verb: 'create', kind, namespace: object.metadata.namespace }, () =>
      writer.create(kind, object),
    ),
  mergePatch: (kind, ref, change, on) =>
    through({ verb: 'patch', kind, ...named(ref) }, () => writer.mergePatch(kind, ref, change, on)),
  jsonPatch: (kind, ref, operations, on) =>
    through({ verb: 'patch', kind, ...named(ref) }, () => writer.jsonPatch(kind, ref, operations, on)),
  apply: (kind, object, options) =>
    through({ verb: 'patch', kind, name: object.metadata.name }, () => writer.apply(kind, object, options)),
  delete: (kind, ref, only) =>
    through({ verb: 'delete', kind, ...named(ref) }, () => writer.delete(kind, ref, only)),
  subresource: (kind, ref, call) =>
    through({ verb: 'create', kind, ...named(ref), subresource: call.name }, () =>
      writer.subresource(kind, ref, call),
    ),
})
