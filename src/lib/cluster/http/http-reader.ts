import type { Change, Found, LogOptions, Page, Reader, Ref, ServerVersion, Where } from '../cluster.ts'
import type { Clock } from '../../system/clock.ts'
import { isNotFound } from '../../system/errors.ts'
import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'
import { proxiedName, type ServiceCall } from '../service-call.ts'
import { patientReads } from './backoff.ts'
import { follow } from './follow.ts'
import { objectPath, withQuery } from './object-path.ts'
import { allPages } from './pages.ts'
import type { Requests } from './requests.ts'
import { isApiGroup, isObject, isServerVersion, unlike } from './shape.ts'
import { subjectOf } from './subject.ts'
import { isUnserved } from './unserved.ts'
import { HttpWatchSource } from './watch-source.ts'

/** Reads over HTTP, patiently. */
export class HttpReader implements Reader {
  readonly #requests: Requests
  readonly #tools: { clock: Clock; random: () => number }

  constructor(requests: Requests, tools: { clock: Clock; random: () => number }) {
    this.#requests = requests
    this.#tools = tools
  }

  async find<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> {
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

  follow<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal): AsyncIterable<Change<T>> {
    return follow(
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
