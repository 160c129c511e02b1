// Every call is passed on as it came.
// oxlint-disable typescript/no-explicit-any
import type { Cluster, Reader, Writer } from '../../../src/lib/kube/cluster.ts'
import type { Kind } from '../../../src/lib/kube/object.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'

/** 403 for each call that `is` names (verb, resource, and of a single read the name), from when it says so. A watch that is refused is lost, and stays silent. */
export function denying(
  cluster: Cluster,
  is: (verb: string, plural: string, name?: string) => boolean,
): Cluster {
  const { reader, writer } = cluster
  const no = (verb: string, { plural }: Kind, name?: string) => {
    if (is(verb, plural, name))
      throw new ApiError(403, 'Forbidden', `${plural} is forbidden: User "jane" cannot ${verb}`)
  }
  const reads: Record<keyof Reader, any> = {
    async get(kind: Kind, ref: any) {
      no('get', kind, ref.name)
      return reader.get(kind, ref)
    },
    async list(kind: Kind, where: any) {
      no('list', kind)
      return reader.list(kind, where)
    },
    async *pages(kind: Kind, where: any) {
      no('list', kind)
      yield* reader.pages(kind, where)
    },
    async *watch(kind: Kind, where: any, signal: AbortSignal) {
      if (!is('list', kind.plural)) yield* reader.watch(kind, where, signal)
      else yield { type: 'lost', why: '403' }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
    versions: (group: string) => reader.versions(group),
    version: () => reader.version(),
    log: (pod: any, options: any) => reader.log(pod, options),
    askRoute: (call: any) => reader.askRoute?.(call),
    async askService(call: any) {
      no('get', { plural: 'services/proxy' } as Kind)
      return reader.askService?.(call)
    },
  }
  const guarded = (verb: string, name: keyof Writer) => async (kind: Kind, ref: any, body: any, on: any) => {
    no(verb, kind)
    return (writer as any)[name](kind, ref, body, on)
  }
  const writes: Record<keyof Writer, any> = {
    create: guarded('create', 'create'),
    mergePatch: guarded('patch', 'mergePatch'),
    jsonPatch: guarded('patch', 'jsonPatch'),
    apply: guarded('patch', 'apply'),
    delete: guarded('delete', 'delete'),
    subresource: guarded('update', 'subresource'),
  }
  return { ...cluster, reader: reads as Reader, writer: writes as Writer }
}
