import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'
import { at, type Json, same } from '../../src/simulator/api/json.ts'
import { internalError, Refusal, unauthorized } from '../../src/simulator/api/api-refusal.ts'
import { type ApiRequest, requestOfPath } from '../../src/simulator/api/api-request.ts'
import type { Admission, Store } from '../../src/simulator/api/store.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'

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
  async before(request: Asked & { user: string }): Promise<void> {
    const slow = this.#take('slow', request)
    if (slow) await this.clock.sleep(slow.ms)
    if (this.#take('unauthorized', request)) throw unauthorized()
    const refused = this.#take('refused', request)
    if (refused?.status === 429)
      throw new Refusal(429, 'TooManyRequests', 'Too many requests, please try again later.', {
        details: { retryAfterSeconds: refused.retryAfter ?? 1 },
      })
    if (refused?.status === 503)
      throw new Refusal(503, 'ServiceUnavailable', 'the server is currently unable to handle the request')
    if (refused) throw internalError('etcdserver: request timed out')
  }

  #find<K extends ApiFault['is']>(is: K, request: Asked & { user: string }) {
    return [...this.#left.keys()].find(
      (fault): fault is ApiFault & { is: K } =>
        fault.is === is && concerns('on' in fault ? fault.on : undefined, request),
    )
  }

  #take<K extends ApiFault['is']>(is: K, request: Asked & { user: string }) {
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

function concerns(on: On | undefined, { verb, kind, user }: Asked & { user: string }): boolean {
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
  const before = (name: string, args: readonly unknown[]) => faults.before({ ...requestOf(name, args), user })
  const through = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(_, name) {
        const method: unknown = Reflect.get(part, name)
        if (name === 'dryRun') return through(method as object)
        if (typeof method !== 'function' || name === 'watch') return method
        if (name === 'pages')
          return async function* (...args: readonly unknown[]) {
            await before('list', args)
            yield* Reflect.apply(method, part, args) as AsyncIterable<unknown>
          }
        return async (...args: readonly unknown[]) => {
          await before(String(name), args)
          return Reflect.apply(method, part, args) as unknown
        }
      },
    })
  const once = cluster.askOnce?.bind(cluster)
  return {
    reader: through(cluster.reader),
    writer: through(cluster.writer),
    reviewer: through(cluster.reviewer),
    ...(once && { askOnce: (ms) => through(once(ms)) }),
  }
}

type Asked = Pick<ApiRequest, 'verb' | 'kind'>
const of = (verb: string, plural: string): Asked => ({ verb, kind: { apiVersion: 'v1', plural } })
const verbs: Readonly<Record<string, string>> = {
  mergePatch: 'patch',
  jsonPatch: 'patch',
  apply: 'patch',
  subresource: 'create',
}
/** Calls that do not begin with the kind that they are about. */
const others: Readonly<Record<string, Asked>> = {
  log: of('get', 'pods'),
  askService: of('get', 'services'),
  can: of('create', 'selfsubjectaccessreviews'),
  whoAmI: of('create', 'selfsubjectaccessreviews'),
  version: of('get', ''),
  versions: of('get', ''),
}

/** What a call of a Reader, Writer or Reviewer asks the API server for. */
function requestOf(name: string, [first]: readonly unknown[]): Asked {
  if (name === 'path') return requestOfPath(String(first))
  return others[name] ?? { verb: verbs[name] ?? name, kind: first as Kind }
}
