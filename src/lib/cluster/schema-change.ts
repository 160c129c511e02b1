import { isFields } from './apply/field-path.ts'
import { someOf } from '../system/some-of.ts'
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
  description: string
  rest: string
}

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

/** By path: `spec.template.spec.volumes[].name`, `metadata.labels.*.key`. */
function fieldsOf(schema: unknown): ReadonlyMap<string, Own> {
  const root = isFields(schema) ? schema['openAPIV3Schema'] : undefined
  return new Map(isFields(root) ? [['', ownOf(root)], ...below(root, '')] : [])
}

function below(schema: unknown, at: string): [string, Own][] {
  if (!isFields(schema)) return []
  const { properties, items, additionalProperties } = schema
  const inside = isFields(properties) ? Object.entries(properties) : []
  return [
    ...inside.flatMap(([name, inner]) => fieldAndBelow(inner, at === '' ? name : `${at}.${name}`)),
    ...below(items, `${at}[]`),
    ...below(additionalProperties, `${at}.*`),
  ]
}

function fieldAndBelow(schema: unknown, at: string): [string, Own][] {
  return [[at, ownOf(schema)], ...below(schema, at)]
}

/** What a list holds is part of the list, but for the fields of its elements. */
function ownOf(schema: unknown): Own {
  const rest = Object.entries(leavesOf(shell(schema))).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { description: JSON.stringify(descriptions(schema)), rest: JSON.stringify(rest) }
}

function shell(schema: unknown): unknown {
  if (!isFields(schema)) return schema
  const { properties: _, description: __, items, additionalProperties, ...rest } = schema
  return { ...rest, items: shell(items), additionalProperties: shell(additionalProperties) }
}

function descriptions(schema: unknown): unknown {
  if (!isFields(schema)) return undefined
  const { description, items, additionalProperties } = schema
  return [description, descriptions(items), descriptions(additionalProperties)]
}
