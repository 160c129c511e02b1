import type { KubeObject } from '../../cluster/object.ts'
import { fieldTest } from './field-selector.ts'
import type { StoreEvent } from './history.ts'
import { labelTest } from './label-selector.ts'
import type { SimKind } from './sim-kind.ts'
import type { Listing } from './store-request.ts'

/** Whether an object is among those that were asked for. Throws 400 for a selector that cannot be read. */
export function selection(kind: SimKind, where: Listing): (object: KubeObject) => boolean {
  const labels = labelTest(where.labels)
  const fields = fieldTest(kind, where.fields)
  return (object) =>
    (where.namespace === undefined || object.metadata.namespace === where.namespace) &&
    labels(object.metadata.labels) &&
    fields(object)
}

/** What a watcher of a selection sees of a change: an object that leaves the selection is deleted to it. */
export function seenAs(
  { type, object, before }: StoreEvent,
  matches: (object: KubeObject) => boolean,
): StoreEvent['type'] | undefined {
  const was = before !== undefined && matches(before)
  if (type === 'DELETED') return was ? 'DELETED' : undefined
  const is = matches(object)
  if (is) return was ? 'MODIFIED' : 'ADDED'
  return was ? 'DELETED' : undefined
}
