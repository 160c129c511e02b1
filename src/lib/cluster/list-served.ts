import { isNotFound } from '../system/errors.ts'
import type { Page, Reader, Where } from './cluster.ts'
import { atVersion, type Kind } from './kind.ts'
import type { KubeObject } from './object.ts'

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
