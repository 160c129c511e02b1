// What is shown otherwise than it is has no type but the one that it was given.
// oxlint-disable typescript/no-explicit-any
import type { Cluster, Reader } from '../../../src/lib/kube/cluster.ts'
import type { Kind } from '../../../src/lib/kube/object.ts'

/** A cluster whose objects of one resource are shown otherwise than they are. `edit` is given a copy; undefined hides the object. */
export function lying(cluster: Cluster, plural: string, edit: (object: any) => any): Cluster {
  const { reader } = cluster
  const lie = (kind: Kind, object: any) => (kind.plural === plural ? edit(structuredClone(object)) : object)
  const some = (kind: Kind, items: readonly any[]) => items.map((one) => lie(kind, one)).filter(Boolean)
  const lies: Record<keyof Reader, any> = {
    async get(kind: Kind, ref: any) {
      const found: any = await reader.get(kind, ref)
      if (found.is !== 'object') return found
      const object = lie(kind, found.object)
      return object ? { is: 'object', object } : { is: 'absent' }
    },
    list: async (kind: Kind, where: any) => some(kind, await reader.list(kind, where)),
    async *pages(kind: Kind, where: any) {
      for await (const page of reader.pages(kind, where)) yield { ...page, items: some(kind, page.items) }
    },
    async *watch(kind: Kind, where: any, signal: AbortSignal) {
      for await (const change of reader.watch(kind, where, signal) as AsyncIterable<any>)
        yield change.object ? { ...change, object: lie(kind, change.object) ?? change.object } : change
    },
    versions: (group: string) => reader.versions(group),
    version: () => reader.version(),
    log: (pod: any, options: any) => reader.log(pod, options),
    askService: (call: any) => reader.askService?.(call),
    askRoute: (call: any) => reader.askRoute?.(call),
  }
  return { ...cluster, reader: lies as Reader }
}
