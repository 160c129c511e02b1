import type { Access, Cluster, LogOptions, Ref, Where, Writer } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { ServiceCall } from '../cluster/service-call.ts'
import type { ApiRequest } from './api/request.ts'
import { named } from './api/store-client.ts'
import type { ApiFaults } from './faults.ts'

/** The cluster as it is seen through an API server with faults: slow, 401, 429 and 5xx before the request is done. */
export function withFaults(cluster: Cluster, faults: ApiFaults, user = 'kubernetes-admin'): Cluster {
  const { reader, reviewer } = cluster
  const through = async <T>(request: ApiRequest, call: () => Promise<T>): Promise<T> => {
    await faults.before({ ...request, user })
    return call()
  }
  return {
    reader: {
      find: (kind, ref) => through({ verb: 'get', kind, ...named(ref) }, () => reader.find(kind, ref)),
      list: (kind, where = {}) =>
        through({ verb: 'list', kind, namespace: where.namespace }, () => reader.list(kind, where)),
      async *pages<T extends KubeObject>(kind: Kind<T>, where: Where = {}) {
        await faults.before({ verb: 'list', kind, namespace: where.namespace, user })
        yield* reader.pages(kind, where)
      },
      follow: (kind, where, signal) => reader.follow(kind, where, signal),
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
      rehearsal: writerThrough(reviewer.rehearsal, through),
    },
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

function writerThrough(writer: Writer, through: Through): Writer {
  return {
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
  }
}
