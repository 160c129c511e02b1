import type { KubeObject, ManagedField } from '../../lib/kube/object.ts'
import { frozen, isJson, type Json, same } from './json.ts'
import { atomicMap, type SimKind } from './kinds/sim-kind.ts'

/** Who writes: one owner per manager, operation and subresource. */
export interface FieldWriter {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly subresource?: 'status' | undefined
  /** RFC 3339. */
  readonly at: string
}

export interface Owner extends FieldWriter {
  readonly apiVersion: string
  readonly fields: Set<string>
}

const entriesOf = new WeakMap<Owner, ManagedField>()
const ownerBehind = new WeakMap<ManagedField, Owner>()

export const ownersOf = (object: KubeObject | undefined): readonly Owner[] =>
  (object?.metadata.managedFields ?? []).map((entry) => ownerBehind.get(entry) ?? ownerOf(entry))

function ownerOf(entry: ManagedField): Owner {
  const owner: Owner = {
    manager: entry.manager ?? 'unknown',
    operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
    ...(entry.subresource === 'status' && { subresource: 'status' as const }),
    at: entry.time ?? '',
    apiVersion: entry.apiVersion ?? '',
    fields: fromFieldsV1(entry.fieldsV1),
  }
  ownerBehind.set(entry, owner)
  return owner
}

export function toEntries(owners: readonly Owner[]): ManagedField[] {
  const kept = owners.filter((o) => o.fields.size > 0)
  if (kept.length > 1) kept.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
  return kept.map(entryOf)
}

/** One function for all entries, so that V8 keeps them in one shape. */
const lazyFields: PropertyDescriptor = {
  enumerable: true,
  get(this: ManagedField) {
    return wireForm(ownerBehind.get(this)?.fields ?? new Set())
  },
}

/** Most owners of an object are left as they are by a write, and of most entries nobody reads the fields: they are written down when somebody does. */
function entryOf(owner: Owner): ManagedField {
  const known = entriesOf.get(owner)
  if (known) return known
  const { manager, operation, apiVersion, at: time, subresource } = owner
  const entry: ManagedField = { manager, operation, apiVersion, time, fieldsType: 'FieldsV1' }
  Object.defineProperty(entry, 'fieldsV1', lazyFields)
  if (subresource) entry.subresource = subresource
  entriesOf.set(owner, entry)
  ownerBehind.set(entry, owner)
  return Object.freeze(entry)
}

const written = new WeakMap<Set<string>, Json>()

function wireForm(fields: Set<string>): Json {
  let form = written.get(fields)
  if (!form) written.set(fields, (form = frozen(toFieldsV1(fields))))
  return form
}

/** Applies before updates, then by time, then by name. */
const rank = ({ operation, at, manager, subresource }: Owner): string =>
  [operation, at, manager, subresource ?? ''].join('\n')

export const isOwner = (owner: Owner, writer: FieldWriter): boolean =>
  owner.manager === writer.manager &&
  owner.operation === writer.operation &&
  owner.subresource === writer.subresource

interface FieldChanges {
  /** Added or modified, with their values. */
  readonly changed: ReadonlyMap<string, unknown>
  readonly removed: readonly string[]
}

export function fieldChanges(before: unknown, after: unknown, how: Collecting): FieldChanges {
  const old = collected(before, after, how)
  const now = collected(after, before, how)
  const changed = new Map<string, unknown>()
  for (const [path, value] of now) if (!old.has(path) || !same(old.get(path), value)) changed.set(path, value)
  return { changed, removed: [...old.keys()].filter((path) => !now.has(path)) }
}

/** The managedFields after a create, an update or a patch that is no apply: who writes a field owns it alone. */
export function afterUpdate(
  kind: SimKind,
  before: KubeObject | undefined,
  after: KubeObject,
  writer: FieldWriter,
): ManagedField[] {
  if (!before && kind.kind === 'Event' && !after.metadata.managedFields)
    return [entryOf(teller(kind, after, writer))]
  const changes = fieldChanges(before, after, { kind, holders: true })
  const owners = baseOwners(before, after)
  const others = owners.filter((o) => !isOwner(o, writer)).map((o) => without(o, changes))
  const mine = owners.find((o) => isOwner(o, writer))
  if (changes.changed.size === 0) return toEntries([...others, ...(mine ? [without(mine, changes)] : [])])
  return toEntries([...others, { ...writer, apiVersion: kind.apiVersion, fields: grown(mine, changes) }])
}

/** Who tells of an event owns all of it; what that is nobody asks of most: there are several for each step of a VM. */
function teller(kind: SimKind, event: KubeObject, writer: FieldWriter): Owner {
  let known: Set<string> | undefined
  return {
    ...writer,
    apiVersion: kind.apiVersion,
    get fields() {
      return (known ??= new Set(collected(event, undefined, { kind, holders: true }).keys()))
    },
  }
}

/** The same set where it says so already: it has been written down before. */
function grown(mine: Owner | undefined, { changed, removed }: FieldChanges): Set<string> {
  const kept = mine ? less(mine.fields, removed) : new Set<string>()
  let more: Set<string> | undefined
  for (const path of changed.keys()) if (!kept.has(path)) (more ??= new Set(kept)).add(path)
  return more ?? kept
}

/** A writer may edit managedFields themselves, as `kubectl apply --server-side` does to take over older entries. */
function baseOwners(before: KubeObject | undefined, after: KubeObject): readonly Owner[] {
  const given = after.metadata.managedFields
  if (!given || given.length === 0) return ownersOf(before)
  return ownersOf(after).filter((o) => o.apiVersion !== '')
}

/** The owner without what changed hands or went; the same one where that is nothing. */
export function without(owner: Owner, { changed, removed }: FieldChanges): Owner {
  const fields = less(less(owner.fields, changed.keys()), removed)
  return fields === owner.fields ? owner : { ...owner, fields }
}

function less(fields: Set<string>, gone: Iterable<string>): Set<string> {
  let kept: Set<string> | undefined
  for (const path of gone) if (fields.has(path)) (kept ??= new Set(fields)).delete(path)
  return kept ?? fields
}

/** Fields by their path in fieldsV1's words, joined by `separator`: `f:spec ⏎ k:{"name":"a"} ⏎ f:image`. */
type FieldSet = Map<string, unknown>
export const separator = '\u0000'

const serverFields =
  'name namespace uid resourceVersion generation creationTimestamp managedFields selfLink deletionTimestamp deletionGracePeriodSeconds'
/** Fields that nobody owns. */
const unowned = new Set([
  'f:apiVersion',
  'f:kind',
  ...serverFields.split(' ').map((field) => `f:metadata${separator}f:${field}`),
])

/** Every owned leaf of the object with its value: scalars, atomic lists and maps, and the items of keyed lists. */
export const fieldsOf = (object: unknown, kind: SimKind): FieldSet =>
  collected(object, undefined, { kind, holders: false })

/** What is collected: `holders` are the maps and lists; who brings one by an update owns it as well as what is in it. */
interface Collecting {
  readonly kind: SimKind
  readonly holders: boolean
}

/** What is there in every object of a built-in kind, and so is brought by nobody. */
const given = new Set('spec status template containers strategy updateStrategy names scope'.split(' '))
const empty: Json = {}

/**
 * The owned fields of an object, without those that it shares with another one: what is the very same value in the same place of
 * both is skipped, so that two such sets, each without the other's, differ as the whole ones do.
 */
function collected(object: unknown, other: unknown, { kind, holders }: Collecting): FieldSet {
  const fields: FieldSet = new Map()
  if (isJson(object)) members(object, other, '', [])
  return fields

  function members(map: Json, others: unknown, above: string, path: readonly string[]): void {
    const twin = isJson(others) ? others : empty
    for (const name in map) {
      const value = map[name]
      if (value === twin[name]) continue
      const key = pathBelow(above, name, 'f:')
      if (unowned.has(key)) continue
      if (typeof value !== 'object' || value === null) fields.set(key, value)
      else visit(value, twin[name], key, [...path, name])
    }
  }

  function visit(value: object, twin: unknown, key: string, path: readonly string[]): void {
    if (Array.isArray(value)) visitList(value, twin, key, path)
    else if (Object.keys(value).length === 0 || atomicMap(path, kind.builtIn)) fields.set(key, value)
    else {
      claim(key, path)
      members(value as Json, twin, key, path)
    }
  }

  function visitList(
    list: readonly unknown[],
    others: unknown,
    above: string,
    path: readonly string[],
  ): void {
    const keys = list.length > 0 ? kind.listKeys(path) : 'atomic'
    if (keys === 'atomic') {
      fields.set(above, list)
      return
    }
    claim(above, path)
    const twins: readonly unknown[] = Array.isArray(others) ? others : []
    for (const [i, item] of list.entries()) {
      const twin = twins[i]
      if (item === twin) continue
      const element = itemElement(item, keys)
      const key = pathBelow(above, element)
      fields.set(key, keys === 'set' ? item : null)
      if (keys !== 'set' && isJson(item))
        members(item, isJson(twin) && itemElement(twin, keys) === element ? twin : undefined, key, path)
    }
  }

  function claim(key: string, path: readonly string[]): void {
    const field = path.at(-1) ?? ''
    if (holders && field !== 'metadata' && !(kind.builtIn && given.has(field))) fields.set(key, empty)
  }
}

const knownPaths = new Map<string, Map<string, string>>()
/** Objects have the same fields by the thousand: up to so many paths are one text for all of them. */
const mostPaths = 20_000
let pathCount = 0

function pathBelow(above: string, name: string, prefix = ''): string {
  const below = knownPaths.get(above)
  const known = below?.get(name)
  if (known !== undefined) return known
  const path = above === '' ? prefix + name : `${above}${separator}${prefix}${name}`
  if (pathCount >= mostPaths) return path
  pathCount++
  if (below) below.set(name, path)
  else knownPaths.set(above, new Map([[name, path]]))
  return path
}

/** `k:{"name":"a"}` or `v:"a"`. */
export function itemElement(item: unknown, keys: readonly string[] | 'set'): string {
  if (keys === 'set') return `v:${JSON.stringify(item)}`
  const valueOf = (key: string) => (isJson(item) ? (item[key] ?? (key === 'protocol' ? 'TCP' : '')) : '')
  const [only = ''] = keys
  if (keys.length === 1) return `k:{${JSON.stringify(only)}:${JSON.stringify(valueOf(only))}}`
  return `k:${JSON.stringify(Object.fromEntries([...keys].sort().map((key) => [key, valueOf(key)])))}`
}

/** The wire form. A field that holds others and is itself owned gets a `.`. */
function toFieldsV1(paths: Iterable<string>): Json {
  const root: Json = {}
  const nodes = new Map<string, Json>([['', root]])
  const node = (path: string): Json => {
    const known = nodes.get(path)
    if (known) return known
    const cut = path.lastIndexOf(separator)
    const parent = node(cut < 0 ? '' : path.slice(0, cut))
    const made: Json = {}
    parent[path.slice(cut + 1)] = made
    nodes.set(path, made)
    return made
  }
  const sorted = [...paths].sort()
  const all = new Set(sorted)
  for (const path of sorted) node(path)
  for (const [path, made] of nodes) if (all.has(path) && Object.keys(made).length > 0) made['.'] = {}
  return root
}

function fromFieldsV1(fields: unknown, above = '', paths = new Set<string>()): Set<string> {
  if (!isJson(fields)) return paths
  const names = Object.keys(fields)
  if (above !== '' && (names.length === 0 || '.' in fields)) paths.add(above)
  for (const name of names)
    if (name !== '.') fromFieldsV1(fields[name], above === '' ? name : `${above}${separator}${name}`, paths)
  return paths
}

/** As conflicts print it: `.spec.template.spec.containers[name="a"].image`. */
export const readable = (path: string): string =>
  path
    .split(separator)
    .map((element) => {
      if (element.startsWith('f:')) return `.${element.slice(2)}`
      if (element.startsWith('v:')) return `[=${element.slice(2)}]`
      const known = Object.entries(JSON.parse(element.slice(2)) as Json)
      return `[${known.map(([k, v]) => `${k}=${JSON.stringify(v)}`).join(',')}]`
    })
    .join('')
