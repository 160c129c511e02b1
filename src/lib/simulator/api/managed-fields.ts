import type { KubeObject, ManagedField } from '../../cluster/object.ts'
import { collected, type Collecting, fromFieldsV1, toFieldsV1 } from './field-set.ts'
import { type Json, same } from './json.ts'
import type { SimKind } from './sim-kind.ts'

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

const parsed = new WeakMap<readonly ManagedField[], readonly Owner[]>()

export function ownersOf(object: KubeObject | undefined): readonly Owner[] {
  const entries = object?.metadata.managedFields
  if (!entries) return []
  const known = parsed.get(entries)
  if (known) return known
  const owners = entries.map((entry) => ownerOf(entry))
  parsed.set(entries, owners)
  return owners
}

function ownerOf(entry: ManagedField): Owner {
  return {
    manager: entry.manager ?? 'unknown',
    operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
    ...(entry.subresource === 'status' && { subresource: 'status' as const }),
    at: entry.time ?? '',
    apiVersion: entry.apiVersion ?? '',
    fields: fromFieldsV1(entry.fieldsV1),
  }
}

export function toEntries(owners: readonly Owner[]): ManagedField[] {
  const kept = owners.filter((o) => o.fields.size > 0).sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
  const entries = kept.map((owner) => ({
    manager: owner.manager,
    operation: owner.operation,
    apiVersion: owner.apiVersion,
    time: owner.at,
    fieldsType: 'FieldsV1',
    fieldsV1: wireForm(owner.fields),
    ...(owner.subresource && { subresource: owner.subresource }),
  }))
  parsed.set(entries, kept)
  return entries
}

const written = new WeakMap<Set<string>, Json>()

/** Most owners of an object are left as they are by a write: their fields are written down once. */
function wireForm(fields: Set<string>): Json {
  const known = written.get(fields)
  if (known) return known
  const made = toFieldsV1(fields)
  written.set(fields, made)
  return made
}

/** Applies before updates, then by time, then by name. */
function rank({ operation, at, manager, subresource }: Owner): string {
  return [operation, at, manager, subresource ?? ''].join('\n')
}

export function isOwner(owner: Owner, writer: FieldWriter): boolean {
  return (
    owner.manager === writer.manager &&
    owner.operation === writer.operation &&
    owner.subresource === writer.subresource
  )
}

export interface FieldChanges {
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
  const changes = fieldChanges(before, after, { kind, holders: true })
  const owners = baseOwners(before, after)
  const others = owners.filter((o) => !isOwner(o, writer)).map((o) => without(o, changes))
  const mine = owners.find((o) => isOwner(o, writer))
  if (changes.changed.size === 0) return toEntries([...others, ...(mine ? [without(mine, changes)] : [])])
  return toEntries([...others, { ...writer, apiVersion: kind.apiVersion, fields: grown(mine, changes) }])
}

/** The same set where it says so already: it has been written down before. */
function grown(mine: Owner | undefined, { changed, removed }: FieldChanges): Set<string> {
  const kept = mine ? less(mine.fields, removed) : new Set<string>()
  const more = [...changed.keys()].filter((path) => !kept.has(path))
  return more.length === 0 ? kept : new Set([...kept, ...more])
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
  const found = [...gone].filter((path) => fields.has(path))
  if (found.length === 0) return fields
  const kept = new Set(fields)
  for (const path of found) kept.delete(path)
  return kept
}
