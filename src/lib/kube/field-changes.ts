import { isRecord } from './object.ts'
import { counted, someOf } from './text.ts'

/** A value that is compared as a whole: a scalar, a list of scalars, or an empty object or list. */
export type Leaf = string | number | boolean | null | readonly unknown[] | Readonly<Record<string, never>>

/** Every leaf of an object by its path in kubectl's words: `spec.template.spec.containers[virt-operator].image`. */
export type Leaves = Readonly<Record<string, Leaf>>

/** What became of one field; without `from` it was not there, without `to` it is no more. */
export interface FieldChange {
  path: string
  from?: Leaf
  to?: Leaf
}

/**
 * Flattens plain JSON. Elements of lists are known by their `name`, where all have one of their own, and else by their place. Logins in
 * addresses and values under a secret's name are left out: what is made of leaves is shown and kept.
 */
export const leavesOf = (value: unknown, at = ''): Leaves => Object.fromEntries(entriesOf(value, at))

/** In the order of `before`, then what is new. */
export function fieldChanges(before: Leaves, after: Leaves): FieldChange[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].flatMap((path) => {
    const [from, to] = [leafAt(before, path), leafAt(after, path)]
    if (sameLeaf(from, to)) return []
    return [{ path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }]
  })
}

/** A node may be named as what every object has. */
const leafAt = (leaves: Leaves, path: string): Leaf | undefined =>
  Object.hasOwn(leaves, path) ? leaves[path] : undefined

/** Absence is a value too. */
export function sameLeaf(one: Leaf | undefined, other: Leaf | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

type Entry = [path: string, leaf: Leaf]

function entriesOf(value: unknown, at: string): Entry[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return inList(value, at)
  if (typeof value !== 'object' || value === null) return [[at, scalar(value)]]
  const fields = Object.entries(blanked(value)).filter(([, inner]) => inner !== undefined)
  if (fields.length === 0) return [[at, {}]]
  return fields.flatMap(([key, inner]) => entriesOf(inner, below(at, key)))
}

function inList(list: readonly unknown[], at: string): Entry[] {
  if (!list.some((element) => typeof element === 'object' && element !== null))
    return [[at, list.map(scalar)]]
  const names = list.map(nameOf)
  const named = names.every((name) => name !== undefined) && new Set(names).size === names.length
  return list.flatMap((element, index) => entriesOf(element, `${at}[${named ? names[index] : index}]`))
}

const nameOf = (element: unknown): string | undefined =>
  isRecord(element) && typeof element['name'] === 'string' ? element['name'] : undefined

function below(at: string, key: string): string {
  if (/[./]/u.test(key)) return `${at}[${JSON.stringify(key)}]`
  return at === '' ? key : `${at}.${key}`
}

function scalar(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return withoutLogin(value)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}

/** `user:password@host` with and without a scheme; a password may hold what it should not. The digest of an image is no host. */
const logins =
  /(:\/\/)(?:[^\s"'/?#]*|[^\s"'/@:]*:[^\s"'@]*)@(?!sha256:)|^[^\s"'/@:]+:[^\s"'/@]+@(?!sha256:)/gu

const withoutLogin = (text: string): string => text.replaceAll(logins, (_, scheme = '') => `${scheme}…@`)

const secretName = /token|passw|secret|credential|api_?key|private_?key/iu

/** A variable of a container: `{ name: API_TOKEN, value: … }`. */
const blanked = (object: object): object =>
  'value' in object && typeof object.value === 'string' && secretName.test(nameOf(object) ?? '')
    ? { ...object, value: '…' }
    : object

/** `schema` of one version of a CustomResourceDefinition before and after, in words. */
interface SchemaChange {
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
  const from = before === undefined ? {} : { from: fieldNames(was) }
  if (after === undefined) return before === undefined ? undefined : from
  if (before === undefined) return { to: fieldNames(is) }
  const what = inWords(was, is)
  return what === '' ? undefined : { ...from, to: `${fieldNames(is)}: ${what}` }
}

function inWords(was: ReadonlyMap<string, Own>, is: ReadonlyMap<string, Own>): string {
  const added = [...is.keys()].filter((path) => !was.has(path)).length
  const removed = [...was.keys()].filter((path) => !is.has(path))
  let [changed, described] = [0, 0]
  for (const [path, own] of is) {
    const before = was.get(path)
    if (before !== undefined && before.rest !== own.rest) changed += 1
    else if (before !== undefined && before.description !== own.description) described += 1
  }
  return [
    added > 0 && `${added} added`,
    removed.length > 0 && `${removed.length} removed (${someOf(removed)})`,
    changed > 0 && `${changed} changed`,
    described > 0 && `${counted(described, 'description')} changed`,
  ]
    .filter((part) => part !== false)
    .join(', ')
}

/** The object itself, which has no path, is no field of the API. */
function fieldNames(of: ReadonlyMap<string, Own>): string {
  return counted(of.size - (of.has('') ? 1 : 0), 'field')
}

/** By path: `spec.template.spec.volumes[].name`, `metadata.labels.*.key`. */
function fieldsOf(schema: unknown): ReadonlyMap<string, Own> {
  const root = isRecord(schema) ? schema['openAPIV3Schema'] : undefined
  return new Map(isRecord(root) ? [['', ownOf(root)], ...schemaBelow(root, '')] : [])
}

function schemaBelow(schema: unknown, at: string): [string, Own][] {
  if (!isRecord(schema)) return []
  const { properties, items, additionalProperties } = schema
  const inside = isRecord(properties) ? Object.entries(properties) : []
  return [
    ...inside.flatMap(([name, inner]): [string, Own][] => {
      const path = at === '' ? name : `${at}.${name}`
      return [[path, ownOf(inner)] as [string, Own]].concat(schemaBelow(inner, path))
    }),
    ...schemaBelow(items, `${at}[]`),
    ...schemaBelow(additionalProperties, `${at}.*`),
  ]
}

/** What a list holds is part of the list, but for the fields of its elements. */
function ownOf(schema: unknown): Own {
  const rest = Object.entries(leavesOf(shell(schema))).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { description: JSON.stringify(descriptions(schema)), rest: JSON.stringify(rest) }
}

function shell(schema: unknown): unknown {
  if (!isRecord(schema)) return schema
  const { properties: _, description: __, items, additionalProperties, ...rest } = schema
  return { ...rest, items: shell(items), additionalProperties: shell(additionalProperties) }
}

function descriptions(schema: unknown): unknown {
  if (!isRecord(schema)) return undefined
  const { description, items, additionalProperties } = schema
  return [description, descriptions(items), descriptions(additionalProperties)]
}
