import { isRecord, type KubeObject, type ManagedField } from './object.ts'

/**
 * Who, other than kvup, wrote the field at this JSON pointer last, from managedFields: `kubectl-edit at 2026-01-01T00:00:00Z`. For a
 * step's `blame`. Who wrote before `after` did not undo what was written then. Undefined when the server does not tell.
 */
export function lastWriter(object: KubeObject, pointer: string, after?: Date): string | undefined {
  const [last] = entriesOf(object, pointer)
    .filter((field) => field.manager && !isKvups(field) && !isBefore(field, after))
    .toSorted((a, b) => (b.time ?? '').localeCompare(a.time ?? ''))
  return last && `${last.manager}${last.time ? ` at ${last.time}` : ''}`
}

/** That the present value of the field at this JSON pointer is kvup's own. False as well where the server does not tell. */
export const isWrittenByKvup = (object: KubeObject, pointer: string): boolean =>
  entriesOf(object, pointer).some(isKvups)

const entriesOf = ({ metadata: { managedFields = [] } }: KubeObject, pointer: string): ManagedField[] =>
  managedFields.filter((field) => owns(field, pointer.split('/').slice(1)))

/** The server writes whole seconds. */
const isBefore = ({ time }: ManagedField, after: Date | undefined): boolean =>
  time !== undefined && after !== undefined && Date.parse(time) < Math.floor(after.getTime() / 1000) * 1000

const isKvups = ({ manager = '' }: ManagedField): boolean => manager.startsWith('kvup')

/** Who owns a field above, without anything below it, owns all of it. */
function owns({ fieldsV1 }: ManagedField, path: readonly string[]): boolean {
  let at: unknown = fieldsV1
  for (const field of path) {
    const below = isRecord(at) ? at[`f:${field}`] : undefined
    if (below === undefined) return false
    if (isRecord(below) && Object.keys(below).length === 0) return true
    at = below
  }
  return true
}
