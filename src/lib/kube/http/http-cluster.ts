import type { Clock } from '../clock.ts'
import {
  type Access,
  type ApplyOptions,
  type Change,
  type Cluster,
  type DeepPartial,
  type Found,
  type JsonOperation,
  type LogOptions,
  type Page,
  type Precondition,
  proxiedName,
  type Reader,
  type Ref,
  type Reviewer,
  type RouteCall,
  type ServerVersion,
  type ServiceCall,
  type SingleAsk,
  type Where,
  type Writer,
} from '../cluster.ts'
import type { HeardDate } from './cluster-clock.ts'
import { type Connection, type Environment, isInTheClear, resolveTarget, type Target } from './target.ts'
import { Credentials } from './credentials.ts'
import { redactUrl, traceTo } from './trace.ts'
import { type Call, once, Requests } from './requests.ts'
import { isNotFound, usageError } from '../errors.ts'
import { groupOf, type Kind, type KubeObject } from '../object.ts'
import { carefulWrites, patientQuestions, patientReads } from './backoff.ts'
import { watchObjects, HttpWatchSource } from './watch.ts'
import { allPages, objectPath, type Query, withQuery } from './lists.ts'
import { isApiGroup, isObject, isServerVersion, isSuccess, unlike } from './failure.ts'
import { isUnserved, subjectOf } from './api-error.ts'
import { parseDuration } from '../duration.ts'

export interface ClusterTools {
  /** The local one: for sleeps, and for how long things take. */
  clock: Clock
  /** Is told what each answer says of the cluster's time. */
  heard?: ((date: HeardDate) => void) | undefined
  /** Is told of a simulated cluster how fast its time runs, before anything is asked of it. */
  paced?: ((speed: number) => void) | undefined
  /** 0 ≤ x < 1: jitter. */
  random: () => number
  env: Environment
  /** Is told each distinct `Warning:` of the server once. */
  onWarning: (text: string) => void
  /** Is told what of the connection itself is dangerous, and which login is waited for. */
  warn?: (text: string) => void
  /** `-v 6` and up: lines for stderr, secrets taken out; what the server wrote is in them as it came. */
  trace?: (line: string) => void
  verbosity: number
  /** `kvup/1.2.3` */
  userAgent: string
  /** Ends every request and login that is under way: nobody reads their answers any more. */
  ending?: AbortSignal | undefined
}

/**
 * The cluster behind a kubeconfig. Sends nothing yet: credentials are read at the first call. Throws a usage error
 * for a file, context, cluster or user that does not exist, and where no cluster is configured at all.
 */
export async function openCluster(connection: Connection, tools: ClusterTools): Promise<Cluster> {
  const target = await resolveTarget(connection, tools.env)
  if (target.cluster.pace !== undefined) tools.paced?.(target.cluster.pace)
  if (isInTheClear(target.cluster.server)) tools.warn?.(inTheClear(target))
  const credentials = new Credentials(sameTarget(target, connection, tools.env), {
    ...tools,
    waiting: tools.warn,
  })
  const requests = new Requests({
    ...tools,
    trace: traceTo(tools.trace, tools.verbosity),
    onWarning: once(tools.onWarning),
    credentials,
    timeout: requestTimeout(connection.requestTimeout),
    server: target.cluster.server,
    to: {
      server: redactUrl(target.cluster.server),
      file: connection.server === undefined ? target.cluster.file : undefined,
      context: target.context,
      user: target.impersonation.user ?? target.login.name,
      proxy: target.cluster.proxyUrl && redactUrl(target.cluster.proxyUrl),
    },
  })
  return {
    address: {
      ...(target.context !== undefined && { context: target.context }),
      server: redactUrl(target.cluster.server),
    },
    reader: Object.assign(new HttpReader(requests, tools), {
      askRoute: async (call: RouteCall) =>
        (await import('./route-question.ts')).askRoute(call, { target, credentials }),
    }),
    writer: new HttpWriter(requests),
    askOnce: (ms) => singleAsk(requests.once(ms), tools),
    reviewer: Object.assign(new HttpReviewer(requests, new HttpWriter(requests, { isDryRun: true })), {
      credentialsEnd: async () => (await import('./login-methods.ts')).credentialsEnd(target.login),
    }),
  }
}

function singleAsk(requests: Requests, tools: ClusterTools): SingleAsk {
  const reader = new HttpReader(requests, tools)
  return {
    get: (kind, ref) => reader.get(kind, ref),
    pages: (kind, where) => reader.pages(kind, where),
    dryRun: new HttpWriter(requests, { isDryRun: true }),
    path: (path) =>
      requests.json({
        method: 'GET',
        path,
        subject: { verb: 'get', resource: path },
        patience: patientReads,
      }),
  }
}

/** As kubectl does, it is done where somebody asked for it; unlike kubectl, it is not done in silence. */
const inTheClear = ({ cluster, login }: Target): string =>
  `${redactUrl(cluster.server)} is not https: the credentials of ${login.name} and all requests and answers are sent unencrypted`

/**
 * Reads the kubeconfig again for new credentials only: `kubectl config use-context` in another window, or another
 * address under the same name, must not move a run to another cluster.
 */
function sameTarget(first: Target, connection: Connection, env: Environment): () => Promise<Target> {
  const pinned = first.context === undefined ? connection : { ...connection, context: first.context }
  let read = false
  return async () => {
    const target = read ? await readAgain(pinned, env) : first
    read = true
    return target?.cluster.server === first.cluster.server ? target : first
  }
}

/** Undefined while the file is gone or half written: what was read before is then as good as it gets. */
async function readAgain(connection: Connection, env: Environment): Promise<Target | undefined> {
  try {
    return await resolveTarget(connection, env)
  } catch {
    return undefined
  }
}

/** Reads over HTTP, patiently. */
class HttpReader implements Reader {
  readonly #requests: Requests
  readonly #tools: { clock: Clock; random: () => number }

  constructor(requests: Requests, tools: { clock: Clock; random: () => number }) {
    this.#requests = requests
    this.#tools = tools
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> {
    try {
      const subject = subjectOf('get', kind, ref)
      const object = await this.#get<T>(objectPath(kind, ref), subject)
      if (!isObject(object)) throw this.#requests.error(unlike(`a ${kind.kind}`, object), subject)
      return { is: 'object', object }
    } catch (error) {
      if (!isNotFound(error)) throw error
      return { is: isUnserved(error) ? 'unserved' : 'absent' }
    }
  }

  async list<T extends KubeObject>(kind: Kind<T>, where: Where = {}): Promise<T[]> {
    const all: T[] = []
    for await (const { items } of this.pages(kind, where)) for (const item of items) all.push(item)
    return all
  }

  pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}): AsyncIterable<Page<T>> {
    return allPages(this.#requests, kind, where)
  }

  watch<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal): AsyncIterable<Change<T>> {
    return watchObjects(
      new HttpWatchSource(this.#requests, { kind, where, signal }, this.#tools.random),
      this.#tools,
      signal,
    )
  }

  async versions(group: string): Promise<readonly string[]> {
    if (group === '') return ['v1']
    try {
      const { versions, preferredVersion } = await this.#meta(`/apis/${group}`, 'an API group', isApiGroup)
      const served = versions.map(({ version }) => version)
      const first = preferredVersion?.version
      return first === undefined ? served : [first, ...served.filter((version) => version !== first)]
    } catch (error) {
      if (isNotFound(error)) return []
      throw error
    }
  }

  version(): Promise<ServerVersion> {
    return this.#meta('/version', 'the version of a server', isServerVersion)
  }

  log(pod: Ref, { container, previous, tailLines, signal }: LogOptions = {}): Promise<string> {
    const pods: Kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
    return this.#requests.text({
      method: 'GET',
      path: withQuery(objectPath(pods, pod, 'log'), {
        container,
        previous: previous === true ? 'true' : undefined,
        tailLines: tailLines?.toString(),
      }),
      subject: subjectOf('get', pods, pod, 'log'),
      patience: patientReads,
      ...(signal && { signal }),
    })
  }

  askService(call: ServiceCall): Promise<string> {
    const services: Kind = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }
    const ref = { namespace: call.service.namespace, name: proxiedName(call) }
    return this.#requests.text({
      method: 'GET',
      path: objectPath(services, ref, `proxy${call.path}`),
      subject: subjectOf('get', services, ref, 'proxy'),
      patience: () => undefined,
      passedOn: true,
      atMost: 5_000,
    })
  }

  async #meta<T>(path: string, what: string, is: (answer: unknown) => answer is T): Promise<T> {
    const subject = { verb: 'get', resource: path }
    const answer = await this.#get<unknown>(path, subject)
    if (is(answer)) return answer
    throw this.#requests.error(unlike(what, answer), subject)
  }

  #get<T>(path: string, subject: ReturnType<typeof subjectOf>): Promise<T> {
    return this.#requests.json<T>({ method: 'GET', path, subject, patience: patientReads })
  }
}

const fieldManager = 'kvup'
/** ms. Whoever guards a write has looked just before it; past this it has to be decided, and guarded, anew. */
const freshFor = 10_000
type What = Pick<Call, 'method' | 'body' | 'contentType'> & {
  verb: string
  query?: Query
  subresource?: string | undefined
}

/** Writes over HTTP; with `isDryRun` the server validates and admits every write, and keeps none. */
class HttpWriter implements Writer {
  readonly #requests: Requests
  readonly #isDryRun: boolean

  constructor(requests: Requests, { isDryRun = false } = {}) {
    this.#requests = requests
    this.#isDryRun = isDryRun
  }

  create<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T> {
    const { namespace } = object.metadata
    return this.#write(kind, { name: '', namespace }, { verb: 'create', method: 'POST', body: object })
  }

  mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: Ref,
    change: DeepPartial<T>,
    on?: 'status',
  ): Promise<T> {
    return this.#patch(kind, ref, {
      body: change,
      contentType: 'application/merge-patch+json',
      subresource: on,
    })
  }

  jsonPatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: Ref,
    operations: readonly JsonOperation[],
    on?: 'status',
  ): Promise<T> {
    return this.#patch(kind, ref, {
      body: operations,
      contentType: 'application/json-patch+json',
      subresource: on,
    })
  }

  apply<T extends KubeObject>(kind: Kind<T>, object: T, { force, manager }: ApplyOptions = {}): Promise<T> {
    const { managedFields: _, ...metadata } = object.metadata
    return this.#patch(kind, object.metadata, {
      body: { ...object, apiVersion: kind.apiVersion, kind: kind.kind, metadata },
      // JSON is YAML, and the server knows server-side apply by this name
      contentType: 'application/apply-patch+yaml',
      query: { fieldManager: manager ?? fieldManager, force: force === true ? 'true' : undefined },
    })
  }

  async delete(kind: Kind, ref: Ref, { uid, resourceVersion }: Precondition = {}): Promise<void> {
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      ...(Object.keys(preconditions).length > 0 && { preconditions }),
      // With a body the server ignores `?dryRun=All` and really deletes.
      ...(this.#isDryRun && { dryRun: ['All'] }),
    }
    const answer = await this.#send<unknown>(kind, ref, {
      verb: 'delete',
      method: 'DELETE',
      body,
      query: { fieldManager: undefined },
    })
    if (isObject(answer) || isSuccess(answer)) return
    throw this.#requests.error(unlike('that of a delete', answer), subjectOf('delete', kind, ref))
  }

  async subresource(
    kind: Kind,
    ref: Ref,
    { name, method, body }: { name: string; method: 'PUT' | 'POST'; body: object },
  ): Promise<unknown> {
    return this.#send<unknown>(kind, ref, {
      verb: method === 'PUT' ? 'update' : 'create',
      method,
      body: this.#isDryRun ? dryRunBody(groupOf(kind), name, body) : body,
      subresource: name,
    })
  }

  #patch<T>(kind: Kind, ref: Ref, what: Omit<What, 'verb' | 'method'>): Promise<T> {
    return this.#write<T>(kind, ref, { ...what, verb: 'patch', method: 'PATCH' })
  }

  /** A write is done when the server shows what it has now. */
  async #write<T>(kind: Kind, ref: Ref, what: What): Promise<T> {
    const answer = await this.#send<T>(kind, ref, what)
    if (isObject(answer)) return answer
    throw this.#requests.error(unlike(`the ${kind.kind}`, answer), subjectOf(what.verb, kind, ref))
  }

  #send<T>(kind: Kind, ref: Ref, { verb, method, body, contentType, query, subresource }: What): Promise<T> {
    const all = { fieldManager, ...query, dryRun: this.#isDryRun ? 'All' : undefined }
    return this.#requests.json<T>({
      method,
      path: withQuery(objectPath(kind, ref, subresource), all),
      subject: subjectOf(verb, kind, ref, subresource),
      patience: carefulWrites,
      freshFor,
      body,
      ...(contentType !== undefined && { contentType }),
    })
  }
}

/** virt-api reads the dry run of these calls from the body and ignores `?dryRun=All`; the others would really act. */
const withDryRun = new Set(['start', 'stop', 'restart', 'migrate', 'pause', 'unpause', 'evacuate/cancel'])

/** The body of a subresource call that must change nothing (facts 6: RestartOptions.dryRun). */
function dryRunBody(group: string, name: string, body: object): object {
  if (group !== 'subresources.kubevirt.io') return body
  if (withDryRun.has(name)) return { ...body, dryRun: ['All'] }
  throw usageError('no-dry-run', `KubeVirt has no dry run for "${name}"`, {
    remedy: '--dry-run=client',
  })
}

interface AccessReview {
  status?: { allowed?: boolean; reason?: string; evaluationError?: string }
}
interface SubjectReview {
  status?: { userInfo?: { username?: string } }
}

/** Questions to the server about ourselves. They are POSTs that change nothing, so they are repeated like reads. */
class HttpReviewer implements Reviewer {
  readonly dryRun: Writer
  readonly #requests: Requests

  constructor(requests: Requests, dryRun: Writer) {
    this.#requests = requests
    this.dryRun = dryRun
  }

  async can(access: Access): Promise<{ allowed: boolean; reason: string }> {
    const { status } = await this.#review<AccessReview>(
      'authorization.k8s.io/v1',
      'SelfSubjectAccessReview',
      {
        resourceAttributes: access,
      },
    )
    return { allowed: status?.allowed === true, reason: status?.reason || status?.evaluationError || '' }
  }

  async whoAmI(): Promise<string | undefined> {
    try {
      const { status } = await this.#review<SubjectReview>('authentication.k8s.io/v1', 'SelfSubjectReview')
      return status?.userInfo?.username
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  #review<T>(apiVersion: string, kind: string, spec?: object): Promise<T> {
    const resource = `${kind.toLowerCase()}s`
    return this.#requests.json<T>({
      method: 'POST',
      path: `/apis/${apiVersion}/${resource}`,
      subject: { verb: 'create', resource: `${resource}.${apiVersion.split('/')[0]}`, changesNothing: true },
      patience: patientQuestions,
      tryAtMost: 10_000,
      body: { apiVersion, kind, ...(spec && { spec }) },
    })
  }
}

/** As long as an API server itself gives a request, and a little more. */
const usual = 65_000

/** `--request-timeout` in ms; `0` is no limit (undefined). Throws `usage` for a number without a unit, as every duration does. */
export function requestTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return usual
  return text === '0' ? undefined : parseDuration(text) || undefined
}
