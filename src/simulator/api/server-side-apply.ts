import type { KubeObject } from '../../lib/kube/object.ts'
import {
  fieldChanges,
  fieldsOf,
  type FieldWriter,
  isOwner,
  itemElement,
  type Owner,
  ownersOf,
  readable,
  separator,
  toEntries,
  without,
} from './managed-fields.ts'
import { copy, isJson, type Json, same } from './json.ts'
import { atomicMap, type SimKind } from './kinds/sim-kind.ts'
import { applyConflict } from './api-refusal.ts'

interface Apply {
  readonly writer: FieldWriter
  readonly force: boolean
}

/**
 * Server-side apply: merges what is wanted into the live object, takes away what this manager applied before, no longer
 * wants and nobody else owns, and hands the fields over. Throws 409 with the managers when a field is somebody else's.
 */
export function applied(
  kind: SimKind,
  live: KubeObject | undefined,
  wanted: KubeObject,
  { writer, force }: Apply,
): KubeObject {
  const owners = ownersOf(live)
  const mine = owners.find((o) => isOwner(o, writer))
  const others = owners.filter((o) => o !== mine)
  const wantedFields = new Set(fieldsOf(wanted, kind).keys())
  const merged = merge(live ?? {}, wanted, { kind, path: [] }) as Json
  for (const path of droppedFields(mine, wantedFields, others)) prune(merged, path.split(separator))
  const changes = fieldChanges(live, merged, { kind, holders: false })
  const { changed, removed } = changes
  // A map that is left empty is nobody's loss.
  const contested = (path: string) => changed.has(path) && !isEmptyMap(changed.get(path))
  const conflicts = others.map((o) => ({
    owner: o,
    fields: [...o.fields].filter((path) => contested(path)),
  }))
  if (!force) refuse(conflicts.filter((c) => c.fields.length > 0))
  const settled = others.map((o) => without(o, changes))
  const object = merged as unknown as KubeObject
  const unchanged =
    mine && changed.size === 0 && removed.length === 0 && sameFields(mine.fields, wantedFields)
  const own = unchanged ? mine : { ...writer, apiVersion: kind.apiVersion, fields: wantedFields }
  object.metadata.managedFields = toEntries([...settled, own])
  return object
}

const isEmptyMap = (value: unknown): boolean => isJson(value) && Object.keys(value).length === 0

const sameFields = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((path) => b.has(path))

function droppedFields(mine: Owner | undefined, wanted: ReadonlySet<string>, others: readonly Owner[]) {
  const gone = [...(mine?.fields ?? [])].filter((path) => !within(wanted, path))
  return gone.filter((path) => !others.some(({ fields }) => within(fields, path)))
}

/** The field itself or something in it. */
const within = (fields: ReadonlySet<string>, path: string): boolean =>
  fields.has(path) || [...fields].some((field) => field.startsWith(path + separator))

interface Spot {
  readonly kind: SimKind
  readonly path: readonly string[]
}

function merge(live: unknown, wanted: unknown, spot: Spot): unknown {
  if (isJson(wanted)) return mergeMap(live, wanted, spot)
  if (!Array.isArray(wanted)) return wanted
  const keys = spot.kind.listKeys(spot.path)
  if (keys === 'atomic') return copy(wanted)
  const result: unknown[] = Array.isArray(live) ? [...live] : []
  for (const item of wanted as unknown[]) {
    const known = itemElement(item, keys)
    const found = result.findIndex((r) => itemElement(r, keys) === known)
    if (found < 0) result.push(copy(item))
    else result[found] = keys === 'set' ? item : merge(result[found], item, spot)
  }
  return result
}

function mergeMap(live: unknown, wanted: Json, spot: Spot): unknown {
  if (atomicMap(spot.path, spot.kind.builtIn)) return copy(wanted)
  const result: Json = isJson(live) ? { ...live } : {}
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined || value === null) continue
    result[name] = merge(result[name], value, { ...spot, path: [...spot.path, name] })
  }
  return result
}

/** Takes one field away, and what holds it where that is left as an empty map of metadata. */
function prune(root: Json, path: readonly string[]): void {
  let holder: unknown = root
  for (const element of path.slice(0, -1)) {
    const next = step(holder, element)
    // Copied on the way down: the merge shares what it did not touch with the live object.
    const own: unknown = Array.isArray(next)
      ? [...(next as unknown[])]
      : isJson(next)
        ? { ...next }
        : undefined
    if (own === undefined) return
    assign(holder, element, own)
    holder = own
  }
  drop(holder, path.at(-1) ?? '')
  tidyMetadata(root)
}

function step(holder: unknown, element: string): unknown {
  if (isJson(holder)) return holder[element.slice(2)]
  return Array.isArray(holder) ? (holder as unknown[]).find((item) => isItem(item, element)) : undefined
}

function assign(holder: unknown, element: string, value: unknown): void {
  if (isJson(holder)) holder[element.slice(2)] = value
  else if (Array.isArray(holder)) holder[holder.findIndex((item) => isItem(item, element))] = value
}

function drop(holder: unknown, element: string): void {
  if (isJson(holder)) delete holder[element.slice(2)]
  else if (Array.isArray(holder)) {
    const found = holder.findIndex((item) => isItem(item, element))
    if (found >= 0) holder.splice(found, 1)
  }
}

function isItem(item: unknown, element: string): boolean {
  const known: unknown = JSON.parse(element.slice(2))
  if (element.startsWith('v:')) return same(item, known)
  return (
    isJson(item) &&
    isJson(known) &&
    Object.entries(known).every(([k, v]) => (item[k] ?? (k === 'protocol' ? 'TCP' : '')) === v)
  )
}

function tidyMetadata(root: Json): void {
  const metadata = root['metadata']
  if (!isJson(metadata)) return
  for (const name of ['labels', 'annotations', 'finalizers', 'ownerReferences']) {
    const value = metadata[name]
    if (value !== undefined && isJson(value) && Object.keys(value).length === 0) delete metadata[name]
    if (Array.isArray(value) && value.length === 0) delete metadata[name]
  }
}

function refuse(conflicts: readonly { owner: Owner; fields: readonly string[] }[]): void {
  const all = conflicts.flatMap(({ owner, fields }) =>
    fields.map((field) => ({ owner, field: readable(field) })),
  )
  const first = all[0]
  if (!first) return
  const causes = all.map(({ owner, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${named(owner)}`,
    field,
  }))
  const listed = conflicts.map(
    ({ owner, fields }) =>
      `conflicts with ${named(owner)}:\n${fields.map((f) => `- ${readable(f)}`).join('\n')}`,
  )
  const message =
    all.length === 1
      ? `Apply failed with 1 conflict: conflict with ${named(first.owner)}: ${first.field}`
      : `Apply failed with ${all.length} conflicts: ${listed.join('\n')}`
  throw applyConflict(causes, message)
}

function named(owner: Owner): string {
  const who = `"${owner.manager}"${owner.subresource ? ` with subresource "${owner.subresource}"` : ''}`
  return owner.operation === 'Update' ? `${who} using ${owner.apiVersion}` : who
}
