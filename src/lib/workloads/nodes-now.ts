import type { Reader } from '../cluster/cluster.ts'
import { known } from '../facts/known.ts'
import { seconds } from '../system/units.ts'
import { readPlaces } from './forecast/places.ts'

/** How many nodes take VMs; nothing where they may not be read. Throws ApiError but 403 and 404. */
export type NodesNow = (reader: Reader, now: Date) => Promise<{ nodes?: number }>

const every = 15 * seconds

/** Asked for with every change of a VM, and listed at most every 15 s. */
export function nodesNow(): NodesNow {
  let last: { at: number; found: { nodes?: number } } | undefined
  return async (reader, now) => {
    if (last === undefined || now.getTime() - last.at >= every) {
      const places = await known(readPlaces(reader).then((one) => [one]))
      const [one] = places.known ? places.items : []
      last = { at: now.getTime(), found: one ? { nodes: one.nodes.length } : {} }
    }
    return last.found
  }
}
