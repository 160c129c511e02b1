import type { Clock } from '../clock.ts'
import {
  type Cluster,
  everyItem,
  proxiedName,
  type Reader,
  type Ref,
  type Reviewer,
  type SingleAsk,
  type Writer,
} from '../cluster.ts'
import type { HeardDate } from './cluster-clock.ts'
import { type Connection, type Environment, isInTheClear, resolveTarget, type Target } from './target.ts'
import { Credentials } from './credentials.ts'
import { redactUrl, traceTo } from './trace.ts'
import { type Call, once, Requests } from './requests.ts'
import { isNotFound, unlessAbsent, usageError } from '../errors.ts'
import { groupOf, type Kind, namespacedKind, type Texts } from '../object.ts'
import { carefulWrites, patientQuestions, patientReads } from './backoff.ts'
import { watchObjects } from './watch.ts'
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
  const address = { server: redactUrl(target.cluster.server) }
  return {
    address: target.context === undefined ? address : { context: target.context, ...address },
    reader: {
      ...httpReader(requests, tools),
      askRoute: async (call) => (await import('./route-question.ts')).askRoute(call, { target, credentials }),
    },
    writer: httpWriter(requests),
    askOnce: (ms) => singleAsk(requests.once(ms), tools),
    reviewer: {
      ...httpReviewer(requests),
      dryRun: httpWriter(requests, true),
      credentialsEnd: async () => (await import('./login-methods.ts')).credentialsEnd(target.login),
    },
  }
}

function singleAsk(requests: Requests, tools: ClusterTools): SingleAsk {
  const path = (wanted: string) => read(requests, wanted, { verb: 'get', resource: wanted })
  return { ...httpReader(requests, tools), dryRun: httpWriter(requests, true), path }
}

const read = <T>(requests: Requests, path: string, subject: Call['subject']): Promise<T> =>
  requests.json({ method: 'GET', path, subject, patience: patientReads })

/** As kubectl does, it is done where somebody asked for it; unlike kubectl, it is not done in silence. */
const inTheClear = ({ cluster, login }: Target): string =>
  `${redactUrl(cluster.server)} is not https: the credentials of ${login.name} and all requests and answers are sent unencrypted`

/**
 * Reads the kubeconfig again for new credentials only: `kubectl config use-context` in another window, or another
 * address under the same name, must not move a run to another cluster.
 */
function sameTarget(first: Target, connection: Connection, env: Environment): () => Promise<Target> {
  const pinned = first.context === undefined ? connection : { ...connection, context: first.context }
  let isAgain = false
  return async () => {
    // While the file is gone or half written, what was read before is as good as it gets.
    const target = isAgain ? await resolveTarget(pinned, env).catch(() => first) : first
    isAgain = true
    return target.cluster.server === first.cluster.server ? target : first
  }
}

const pods = namespacedKind('v1', 'Pod')
const services = namespacedKind('v1', 'Service')

/** Reads over HTTP, patiently. */
function httpReader(requests: Requests, tools: Pick<ClusterTools, 'clock' | 'random'>): Reader {
  const meta = async <T>(path: string, what: string, is: (answer: unknown) => answer is T): Promise<T> => {
    const subject = { verb: 'get', resource: path }
    const answer = await read(requests, path, subject)
    if (is(answer)) return answer
    throw requests.error(unlike(what, answer), subject)
  }
  const pages: Reader['pages'] = (kind, where = {}) => allPages(requests, kind, where)
  return {
    get: async (kind, ref) => {
      try {
        const subject = subjectOf('get', kind, ref)
        const object = await read<unknown>(requests, objectPath(kind, ref), subject)
        if (isObject<NonNullable<typeof kind.shape>>(object)) return { is: 'object', object }
        throw requests.error(unlike(`a ${kind.kind}`, object), subject)
      } catch (error) {
        if (!isNotFound(error)) throw error
        return { is: isUnserved(error) ? 'unserved' : 'absent' }
      }
    },
    list: (kind, where) => everyItem(pages(kind, where)),
    pages,
    watch: (kind, where, signal) => watchObjects(requests, { kind, where, signal }, tools),
    versions: async (group) => {
      if (group === '') return ['v1']
      const found = await unlessAbsent(meta(`/apis/${group}`, 'an API group', isApiGroup), undefined)
      const served = (found?.versions ?? []).map(({ version }) => version)
      const first = found?.preferredVersion?.version
      return first === undefined ? served : [first, ...served.filter((version) => version !== first)]
    },
    version: () => meta('/version', 'the version of a server', isServerVersion),
    log: (pod, { container, previous, tailLines, signal } = {}) =>
      requests.text({
        method: 'GET',
        path: withQuery(objectPath(pods, pod, 'log'), {
          container,
          previous: previous === true ? 'true' : undefined,
          tailLines: tailLines?.toString(),
        }),
        subject: subjectOf('get', pods, pod, 'log'),
        patience: patientReads,
        ...(signal && { signal }),
      }),
    askService: (call) => {
      const ref = { namespace: call.service.namespace, name: proxiedName(call) }
      return requests.text({
        method: 'GET',
        path: objectPath(services, ref, `proxy${call.path}`),
        subject: subjectOf('get', services, ref, 'proxy'),
        patience: () => undefined,
        passedOn: true,
        atMost: 5_000,
      })
    },
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
function httpWriter(requests: Requests, isDryRun = false): Writer {
  const send = <T>(kind: Kind, ref: Ref, what: What): Promise<T> => {
    const { verb, method, body, contentType, query, subresource } = what
    const all = { fieldManager, ...query, dryRun: isDryRun ? 'All' : undefined }
    return requests.json<T>({
      method,
      path: withQuery(objectPath(kind, ref, subresource), all),
      subject: subjectOf(verb, kind, ref, subresource),
      patience: carefulWrites,
      freshFor,
      body,
      ...(contentType !== undefined && { contentType }),
    })
  }
  /** A write is done when the server shows what it has now. */
  const write = async <T>(kind: Kind, ref: Ref, what: What): Promise<T> => {
    const answer = await send<T>(kind, ref, what)
    if (isObject(answer)) return answer
    throw requests.error(unlike(`the ${kind.kind}`, answer), subjectOf(what.verb, kind, ref))
  }
  const patch = <T>(kind: Kind, ref: Ref, type: string, what: Omit<What, 'verb' | 'method'>): Promise<T> =>
    write<T>(kind, ref, { ...what, verb: 'patch', method: 'PATCH', contentType: `application/${type}` })
  return {
    create: (kind, object) =>
      write(
        kind,
        { name: '', namespace: object.metadata.namespace },
        { verb: 'create', method: 'POST', body: object },
      ),
    mergePatch: (kind, ref, body, subresource) => patch(kind, ref, 'merge-patch+json', { body, subresource }),
    jsonPatch: (kind, ref, body, subresource) => patch(kind, ref, 'json-patch+json', { body, subresource }),
    apply: (kind, object, { force, manager } = {}) => {
      const { managedFields: _, ...metadata } = object.metadata
      // JSON is YAML, and the server knows server-side apply by this name
      return patch(kind, object.metadata, 'apply-patch+yaml', {
        body: { ...object, apiVersion: kind.apiVersion, kind: kind.kind, metadata },
        query: { fieldManager: manager ?? fieldManager, force: force === true ? 'true' : undefined },
      })
    },
    delete: async (kind, ref, { uid, resourceVersion } = {}) => {
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        ...(Object.keys(preconditions).length > 0 && { preconditions }),
        // With a body the server ignores `?dryRun=All` and really deletes.
        ...(isDryRun && { dryRun: ['All'] }),
      }
      const query = { fieldManager: undefined }
      const answer = await send<unknown>(kind, ref, { verb: 'delete', method: 'DELETE', body, query })
      if (isObject(answer) || isSuccess(answer)) return
      throw requests.error(unlike('that of a delete', answer), subjectOf('delete', kind, ref))
    },
    subresource: async (kind, ref, { name, method, body }) =>
      send<unknown>(kind, ref, {
        verb: method === 'PUT' ? 'update' : 'create',
        method,
        body: isDryRun ? dryRunBody(groupOf(kind), name, body) : body,
        subresource: name,
      }),
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

interface Review {
  status?: Texts<'reason' | 'evaluationError'> & { allowed?: boolean; userInfo?: { username?: string } }
}

/** Questions to the server about ourselves. They are POSTs that change nothing, so they are repeated like reads. */
function httpReviewer(requests: Requests): Pick<Reviewer, 'can' | 'whoAmI'> {
  const review = (group: string, kind: string, spec?: object) => {
    const resource = `${kind.toLowerCase()}s`
    return requests.json<Review>({
      method: 'POST',
      path: `/apis/${group}/v1/${resource}`,
      subject: { verb: 'create', resource: `${resource}.${group}`, changesNothing: true },
      patience: patientQuestions,
      tryAtMost: 10_000,
      body: { apiVersion: `${group}/v1`, kind, ...(spec && { spec }) },
    })
  }
  return {
    can: async (access) => {
      const spec = { resourceAttributes: access }
      const { status } = await review('authorization.k8s.io', 'SelfSubjectAccessReview', spec)
      return { allowed: status?.allowed === true, reason: status?.reason || status?.evaluationError || '' }
    },
    whoAmI: async () => {
      const answer = await unlessAbsent(review('authentication.k8s.io', 'SelfSubjectReview'), undefined)
      return answer?.status?.userInfo?.username
    },
  }
}

/** As long as an API server itself gives a request, and a little more. */
const usual = 65_000

/** `--request-timeout` in ms; `0` is no limit (undefined). Throws `usage` for a number without a unit, as every duration does. */
export function requestTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return usual
  return text === '0' ? undefined : parseDuration(text) || undefined
}
