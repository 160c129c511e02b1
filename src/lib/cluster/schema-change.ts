import { isFields } from './apply/field-path.ts'
import { leavesOf } from './leaves.ts'

/** `schema` of one version of a CustomResourceDefinition before and after, in words. */
export interface SchemaChange {
  /** `4127 fields`; absent where there was none. */
  from?: string
  /** `4390 fields: 275 added, 12 removed (spec.a, spec.b, spec.c and 9 more), 3 changed, 40 descriptions changed`. */
  to?: string
}

/** What one field of the API says of itself, without what is below it. */
interface Own {
  description: unknown
  rest: string
}

const named = 3

/**
 * Counts fields of the API, not lines of the schema: `spec.template` is one, whatever it says of itself. Removed ones are named, for
 * their values are pruned. Undefined where nothing differs.
 */
export function schemaChange(before: unknown, after: unknown): SchemaChange | undefined {
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  const from = before === undefined ? {} : { from: fields(was) }
  if (after === undefined) return before === undefined ? undefined : from
  if (before === undefined) return { to: fields(is) }
  const what = inWords(was, is)
  return what === '' ? undefined : { ...from, to: `${fields(is)}: ${what}` }
}

function inWords(was: ReadonlyMap<string, Own>, is: ReadonlyMap<string, Own>): string {
  const both = [...is].flatMap(([path, own]) => pairOf(was.get(path), own))
  const added = [...is.keys()].filter((path) => !was.has(path))
  const removed = [...was.keys()].filter((path) => !is.has(path))
  const changed = both.filter(([a, b]) => a.rest !== b.rest).length
  const described = both.filter(([a, b]) => a.rest === b.rest && a.description !== b.description).length
  return [
    ...(added.length > 0 ? [`${added.length} added`] : []),
    ...(removed.length > 0 ? [`${removed.length} removed (${someOf(removed)})`] : []),
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(described > 0 ? [`${described} description${described === 1 ? '' : 's'} changed`] : []),
  ].join(', ')
}

const pairOf = (a: Own | undefined, b: Own): [Own, Own][] => (a === undefined ? [] : [[a, b]])

/** The object itself, which has no path, is no field of the API. */
function fields(of: ReadonlyMap<string, Own>): string {
  const count = of.size - (of.has('') ? 1 : 0)
  return count === 1 ? '1 field' : `${count} fields`
}

function someOf(paths: readonly string[]): string {
  const rest = paths.length - named
  return `${paths.slice(0, named).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** By path: `spec.template.spec.volumes[].name`, `metadata.labels.*`. */
function fieldsOf(schema: unknown): ReadonlyMap<string, Own> {
  return new Map(walk(isFields(schema) ? schema['openAPIV3Schema'] : undefined, ''))
}

function walk(schema: unknown, at: string): [string, Own][] {
  if (!isFields(schema)) return []
  const { properties, items, additionalProperties, description, ...rest } = schema
  const own: Own = { description, rest: JSON.stringify(Object.entries(leavesOf(rest)).toSorted(byPath)) }
  const below = isFields(properties) ? Object.entries(properties) : []
  return [
    [at, own],
    ...below.flatMap(([name, inner]) => walk(inner, at === '' ? name : `${at}.${name}`)),
    ...walk(items, `${at}[]`),
    ...walk(additionalProperties, `${at}.*`),
  ]
}

const byPath = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)
