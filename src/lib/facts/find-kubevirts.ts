import type { Reader } from '../cluster/cluster.ts'
import { atVersion } from '../cluster/kind.ts'
import { type KubeVirt, KubeVirts } from '../cluster/kinds/kubevirt.ts'
import { isNotFound } from '../system/errors.ts'
import { type Known, known } from './known.ts'

/** Every KubeVirt CR, read as v1 or, where that is not served yet, as v1alpha3 (night U7). None where neither is served. */
export function findKubeVirts(reader: Reader): Promise<Known<KubeVirt>> {
  return known(listServed(reader))
}

async function listServed(reader: Reader): Promise<readonly KubeVirt[]> {
  for (const version of ['v1', 'v1alpha3']) {
    try {
      return await reader.list(atVersion(KubeVirts, version))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  return []
}
