import { ApiError, isConflict } from '../system/errors.ts'
import type { Reader, Writer } from '../cluster/cluster.ts'
import type { KubeObject } from '../cluster/object.ts'
import { type ObjectChange, changeOf, liveOf } from './changes.ts'
import { kindOf } from './kinds.ts'
import { ownershipPatch } from './ownership.ts'

export interface Applying {
  reader: Pick<Reader, 'find'>
  writer: Pick<Writer, 'apply' | 'jsonPatch'>
}

const attempts = 5

/**
 * Server-side apply, forced, one object after the other in the order given; what is there already is not written. Whether
 * others may be overruled was decided before, by `conflictFindings`. Returns what was written.
 */
export async function applyManifest(objects: readonly KubeObject[], on: Applying): Promise<ObjectChange[]> {
  const written: ObjectChange[] = []
  for (const wanted of objects) {
    const change = changeOf(wanted, await liveOf(on.reader, wanted))
    if (change.is === 'same') continue
    await takeOver(change, on)
    await on.writer.apply(kindOf(wanted), wanted, { force: true })
    written.push(change)
  }
  return written
}

/** The object may change while we look (a status is written every second), so it is read and tried again. */
async function takeOver({ wanted, live }: ObjectChange, { reader, writer }: Applying): Promise<void> {
  let current = live
  for (let attempt = 1; current !== undefined; attempt++) {
    const patch = ownershipPatch(current)
    if (patch === undefined) return
    try {
      await writer.jsonPatch(kindOf(wanted), current.metadata, patch)
      return
    } catch (error) {
      if (attempt === attempts || !wroteFirst(error)) throw error
    }
    current = await liveOf(reader, wanted)
  }
}

const wroteFirst = (error: unknown) =>
  isConflict(error) || (error instanceof ApiError && error.status === 422)
