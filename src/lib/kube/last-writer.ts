import type { KubeObject, ManagedField } from './object.ts'

/**
 * Who, other than kvup, wrote the field at this JSON pointer last, from managedFields: `kubectl-edit at 2026-01-01T00:00:00Z`. For a
 * step's `blame`. Who wrote before `after` did not undo what was written then. Undefined when the server does not tell.
 */
export function lastWriter({ metadata }: KubeObject, pointer: string, after?: Date): string | undefined {
  const path = pathOf(pointer)
  const writers = (metadata.managedFields ?? [])
    .filter(({ manager = '' }) => manager !== '' && !isKvup(manager))
    .filter((field) => owns(field, path) && !isBefore(field, after))
    .toSorted((a, b) => (b.time ?? '').localeCompare(a.time ?? ''))
  const last = writers[0]
  return last && `${last.manager}${last.time ? ` at ${last.time}` : ''}`
}

/** That the present value of the field at this JSON pointer is kvup's own. False as well where the server does not tell. */
export function isWrittenByKvup({ metadata }: KubeObject, pointer: string): boolean {
  const path = pathOf(pointer)
  return (metadata.managedFields ?? []).some((field) => isKvup(field.manager ?? '') && owns(field, path))
}

/** The server writes whole seconds. */
const isBefore = ({ time }: ManagedField, after: Date | undefined): boolean =>
  time !== undefined && after !== undefined && Date.parse(time) < Math.floor(after.getTime() / 1000) * 1000

const isKvup = (manager: string): boolean => manager.startsWith('kvup')
const pathOf = (pointer: string): readonly string[] => pointer.split('/').slice(1)

/** Who owns a field above, without anything below it, owns all of it. */
function owns({ fieldsV1 }: ManagedField, path: readonly string[]): boolean {
  let at: unknown = fieldsV1
  for (const field of path) {
    if (typeof at !== 'object' || at === null) return false
    const below: unknown = Reflect.get(at, `f:${field}`)
    if (below === undefined) return false
    if (typeof below === 'object' && below !== null && Object.keys(below).length === 0) return true
    at = below
  }
  return true
}
