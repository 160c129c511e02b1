import type { Writer } from '../cluster/cluster.ts'
import type { Held } from './lock.ts'

/** Reads the lock's holder again before every write; a lost lock means no write (exit 6). */
export function guardedWriter(writer: Writer, held: Held): Writer {
  const guarded = async <T>(write: () => Promise<T>): Promise<T> => {
    await held.confirm()
    return write()
  }
  return {
    create: (kind, object) => guarded(() => writer.create(kind, object)),
    mergePatch: (kind, ref, change, on) => guarded(() => writer.mergePatch(kind, ref, change, on)),
    jsonPatch: (kind, ref, operations, on) => guarded(() => writer.jsonPatch(kind, ref, operations, on)),
    apply: (kind, object, options) => guarded(() => writer.apply(kind, object, options)),
    delete: (kind, ref, only) => guarded(() => writer.delete(kind, ref, only)),
    subresource: (kind, ref, call) => guarded(() => writer.subresource(kind, ref, call)),
  }
}
