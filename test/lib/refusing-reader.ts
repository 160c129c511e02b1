import { type Reader, readerWith } from '../../src/lib/kube/cluster.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import type { Kind } from '../../src/lib/kube/object.ts'

/** What somebody sees who may not list these. */
export function refusing(reader: Reader, plurals: readonly string[]): Reader {
  const refuse = ({ plural }: Kind) => {
    if (plurals.includes(plural)) throw new ApiError(403, 'Forbidden', `${plural} is forbidden`)
  }
  return readerWith(reader, {
    async list(kind, where) {
      refuse(kind)
      return reader.list(kind, where)
    },
    async *pages(kind, where) {
      refuse(kind)
      yield* reader.pages(kind, where)
    },
  })
}
