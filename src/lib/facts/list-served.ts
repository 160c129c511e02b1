import type { Reader, Where } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import type { KubeObject } from '../cluster/object.ts'
import { isNotFound } from '../system/errors.ts'

/** Everything of a kind; none where the cluster does not know the kind at all. Throws ApiError. */
export async function listServed<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  where?: Where,
): Promise<T[]> {
  try {
    return await reader.list(kind, where)
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}
