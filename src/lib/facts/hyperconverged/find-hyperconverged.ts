import type { Reader } from '../../cluster/cluster.ts'
import { atVersion } from '../../cluster/kind.ts'
import { type HyperConverged, HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import { ApiError, isNotFound } from '../../system/errors.ts'
import { type Known, known } from '../known.ts'

/**
 * Every HyperConverged, for its status, which is the same in each version: a cluster has one, and more are for the caller to tell. None
 * where no version is served. Its spec is to be read by `storedHyperConverged` (hco 12). Throws ApiError.
 */
export function findHyperConverged(reader: Reader): Promise<Known<HyperConverged>> {
  return known(listServed(reader))
}

async function listServed(reader: Reader): Promise<readonly HyperConverged[]> {
  let failure: unknown
  for (const version of ['v1beta1', 'v1']) {
    try {
      return await reader.list(atVersion(HyperConvergeds, version))
    } catch (error) {
      if (!isNotFound(error) && !notConverted(error)) throw error
      if (!isNotFound(error)) failure = error
    }
  }
  if (failure !== undefined) throw failure
  return []
}

/** hco-webhook is away, as it is in every upgrade: the version that is stored is readable without it (hco 8). */
function notConverted(error: unknown): boolean {
  return error instanceof ApiError && error.status === 500 && error.message.includes('conversion webhook')
}
