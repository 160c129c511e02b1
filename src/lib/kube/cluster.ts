import { atVersion, type Kind, type KubeObject } from './object.ts'
import { isNotFound } from './errors.ts'

export interface Ref {
  name: string
  namespace?: string | undefined
}

/** Narrowed by the server. Without a namespace: all of them. */
export interface Where {
  namespace?: string | undefined
  /** One object by its name: `fieldSelector=metadata.name=…`. */
  name?: string | undefined
  /** A label selector in kubectl's words, set-based ones included: `kubevirt.io in (virt-api,virt-handler)`. */
  labels?: string | undefined
  /** A field selector: `status.phase=Running,spec.nodeName=node-1`. */
  fields?: string | undefined
  /** Objects of one page, where more of them at once are worth it; else 500. Narrows nothing: who has read them already hands them out as they came. */
  pageSize?: number | undefined
}

/** `unserved`: the cluster does not know the kind (no CRD), which is another answer than "no such object". */
export type Found<T> = { is: 'object'; object: T } | { is: 'absent' } | { is: 'unserved' }

export interface Page<T> {
  items: readonly T[]
  /** How many are left after this page, where the server says so. */
  remaining?: number
  /** Nothing comes behind it; absent where that is not known. */
  isLast?: true
  resourceVersion: string
}

/**
 * `synced` comes once after the objects that exist already, and again after a `lost` that was mended.
 * `lost` says that changes may be missed for a while (403 on watch, server away): the reader should poll. What was missed, deleted
 * objects included, is told before the next `synced`.
 */
export type Change<T> =
  | { type: 'added' | 'modified' | 'deleted'; object: T }
  | { type: 'synced' }
  | { type: 'lost'; why: string }

export interface ServerVersion {
  gitVersion: string
  major: string
  minor: string
}

export interface LogOptions {
  container?: string
  previous?: boolean
  tailLines?: number
  /** Ends the wait for it; rejects with the reason. */
  signal?: AbortSignal
}

/** All that reading may do to a cluster. A check, and a step's `check`, are given this and never a Writer. */
export interface Reader {
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>>
  /** Everything, page by page underneath. Throws ApiError 404 when the kind is not served. */
  list<T extends KubeObject>(kind: Kind<T>, where?: Where): Promise<T[]>
  pages<T extends KubeObject>(kind: Kind<T>, where?: Where): AsyncIterable<Page<T>>
  /** Never ends by itself before `signal` does; survives cut connections, idle minutes and 410. */
  watch<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal): AsyncIterable<Change<T>>
  /** Versions of an API group, the preferred one first; empty when it is not served. */
  versions(group: string): Promise<readonly string[]>
  version(): Promise<ServerVersion>
  log(pod: Ref, options?: LogOptions): Promise<string>
  /**
   * Once, and for five seconds at most. What answers is not the API server: a 401 says nothing of our credentials. Not there where no cluster is behind it. Throws ApiError.
   */
  askService?(call: ServiceCall): Promise<string>
  /** Once, with this user's token, which goes to nobody that is not verified. Not there where no cluster is behind it. */
  askRoute?(call: RouteCall): Promise<RouteAnswer>
}

/** A GET to a Route, past the API server. */
export interface RouteCall {
  host: string
  /** Default: 443. */
  port?: number
  /** With its slash in front. */
  path: string
  /** PEM: who may vouch for it, beside the authority of the API server and those of this machine. */
  authorities: readonly string[]
}

/** What it said; or why nobody knows, in words. */
export type RouteAnswer = { text: string } | { why: string }

export type JsonOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }

export interface ApplyOptions {
  /** Take fields over from other managers. Without it, somebody else's field is a 409. */
  force?: boolean
  /** Default `kvup`. */
  manager?: string
}

/** Only deletes what was looked at. */
export interface Precondition {
  uid?: string | undefined
  resourceVersion?: string | undefined
}

/** Field manager of every write: `kvup`. A write is repeated only where the server surely did not act. */
export interface Writer {
  create<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T>
  /** RFC 7386. Include `metadata.resourceVersion` to be refused (409) when somebody else wrote first. */
  mergePatch<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: DeepPartial<T>, on?: 'status'): Promise<T>
  /** RFC 6902; a failing `test` is a 422. */
  jsonPatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: Ref,
    operations: readonly JsonOperation[],
    on?: 'status',
  ): Promise<T>
  /** Server-side apply. */
  apply<T extends KubeObject>(kind: Kind<T>, object: T, options?: ApplyOptions): Promise<T>
  delete(kind: Kind, ref: Ref, only?: Precondition): Promise<void>
  /** PUT restart, POST eviction, … */
  subresource(
    kind: Kind,
    ref: Ref,
    call: { name: string; method: 'PUT' | 'POST'; body: object },
  ): Promise<unknown>
}

/** One question to RBAC. `subresource` as in `virtualmachines/restart`. */
export interface Access {
  verb: string
  group: string
  resource: string
  subresource?: string
  namespace?: string
  name?: string
}

export interface Reviewer {
  /** SelfSubjectAccessReview. */
  can(access: Access): Promise<{ allowed: boolean; reason: string }>
  /** Who the server takes us for (SelfSubjectReview); undefined where it does not say. */
  whoAmI(): Promise<string | undefined>
  /** When the credentials that were given end: a client certificate, a token. Undefined: not known, or renewed by itself. */
  credentialsEnd?(): Promise<Date | undefined>
  /** A Writer whose every call is a server-side dry run: validated, admitted, not kept. */
  readonly dryRun: Writer
}

/** Which cluster it is, as a person knows it; no password is in it. */
export interface ClusterAddress {
  /** Of the kubeconfig; absent where there is none. */
  context?: string
  server: string
}

/** Questions that are sent once and never again: a failure is seen as it was. They throw ApiError, with the status 0 where no answer came. */
export interface SingleAsk extends Pick<Reader, 'get' | 'pages'> {
  readonly dryRun: Pick<Writer, 'create'>
  /** GET of a path that is no object, as `kubectl get --raw`. */
  path(path: string): Promise<unknown>
}

export interface Cluster {
  /** Absent of a saved cluster. */
  readonly address?: ClusterAddress
  readonly reader: Reader
  readonly writer: Writer
  readonly reviewer: Reviewer
  /** For who measures, with the ms that an answer may take. Not there where no cluster is behind it. */
  askOnce?(ms: number): SingleAsk
}

/** What a person calls it: the context, or the host of its server. */
export function clusterName({ context, server }: ClusterAddress): string {
  return context ?? (URL.canParse(server) ? new URL(server).host : server)
}

/** A merge patch: any part may be left out, and `null` removes. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> | null }
    : T

/** A GET to whoever listens behind a Service, through the API server (`services/proxy`). */
export interface ServiceCall {
  service: Ref & { namespace: string }
  scheme: 'http' | 'https'
  /** Its name or number. */
  port: string
  /** With its slash in front. */
  path: string
}

/** As RBAC and the path name it: `https:thanos-querier:web`. */
export function proxiedName({ service, scheme, port }: Omit<ServiceCall, 'path'>): string {
  return `${scheme === 'https' ? 'https:' : ''}${service.name}:${port}`
}

/** A reader that answers some questions itself and passes the others on to `live`. */
export const readerWith = (live: Reader, own: Partial<Reader>): Reader => ({
  get: (kind, ref) => live.get(kind, ref),
  list: (kind, where) => live.list(kind, where),
  pages: (kind, where) => live.pages(kind, where),
  watch: (kind, where, signal) => live.watch(kind, where, signal),
  versions: (group) => live.versions(group),
  version: () => live.version(),
  log: (pod, options) => live.log(pod, options),
  ...(live.askService && { askService: live.askService.bind(live) }),
  ...(live.askRoute && { askRoute: live.askRoute.bind(live) }),
  ...own,
})

/** Everything that is read page by page. */
export async function everyItem<T>(pages: AsyncIterable<Page<T>>): Promise<T[]> {
  const all: T[] = []
  for await (const { items } of pages) for (const item of items) all.push(item)
  return all
}

/** What is read page by page; nothing where the kind is not served. */
export async function* orUnserved<P>(pages: AsyncIterable<P>): AsyncGenerator<P> {
  try {
    yield* pages
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Pages of the first of these versions that is served; none where no one is. Throws ApiError. */
export async function* servedPages<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  versions: readonly string[],
  where?: Where,
): AsyncGenerator<Page<T>> {
  for (const version of versions) {
    try {
      yield* reader.pages(atVersion(kind, version), where)
      return
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

/** The object, where it is there. Throws what `get` throws. */
export async function objectIn<T extends KubeObject>(
  reader: Pick<Reader, 'get'>,
  kind: Kind<T>,
  ref: Ref,
): Promise<T | undefined> {
  const found = await reader.get(kind, ref)
  return found.is === 'object' ? found.object : undefined
}
